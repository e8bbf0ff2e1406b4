import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { plantWriter } from '@plant-store/formats';
import { Option } from 'commander';
import { makeCommand, write } from '../command.ts';
import { CommandError, explain } from '../errors.ts';
import { connect, readPages } from '../store.ts';

const details = `
A plant that exists during the whole export is in it exactly once. CSV is for spreadsheet programs, and
NDJSON is for other programs. A file has the extension .incomplete until it is complete.

Examples:
  plant-store export plants.csv
  plant-store export --tag Araceae > araceae.ndjson
`;

const formats = ['csv', 'ndjson'] as const;

interface ExportOptions {
  tag?: string;
  format?: (typeof formats)[number];
}

export const exportCommand = () =>
  makeCommand('export', 'write all plants to standard output or a file', details)
    .argument('[file]', 'the file (default: standard output)')
    .addOption(new Option('--format <format>', 'default: by the file name').choices(formats))
    .option('--tag <tag>', 'only plants with this tag')
    .action(exportPlants);

async function exportPlants(file: string | undefined, options: ExportOptions): Promise<void> {
  const { tag, format = file?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson' } = options;
  const { listPlants } = connect(60_000);
  const incomplete = `${file}.incomplete`;
  const output = file === undefined ? process.stdout : createWriteStream(incomplete);
  const writePlants = async () => {
    const { start, rows } = plantWriter(format);
    await write(start, output);
    const pages = readPages((page) => listPlants.query({ tag, ...page }));
    for await (const { plants } of pages) await write(rows(plants), output);
  };
  try {
    if (file === undefined) return await writePlants();
    // After an error of the file, no event `drain` follows, but `finished` rejects.
    await Promise.all([writePlants().then(() => output.end()), finished(output)]);
    await rename(incomplete, file);
  } catch (error) {
    const { message, ...rest } = explain(error);
    throw new CommandError(`${message}; the output is incomplete`, rest);
  }
}
