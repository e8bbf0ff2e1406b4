import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type Format, plantWriter } from '@plant-store/formats';
import { maxPageSize } from '@plant-store/schemas';
import { Option } from 'commander';
import { makeCommand, write } from '../command.ts';
import { CommandError, explain } from '../errors.ts';
import { connect } from '../store.ts';

const details = `
A plant that exists during the whole export is in it exactly once. CSV has a byte order mark, so spreadsheet
programs read umlauts. A file has the extension .incomplete until it is complete.
`;

interface ExportOptions {
  tag?: string;
  format?: Format;
}

export const exportCommand = () =>
  makeCommand('export', 'write all plants to standard output or a file', {
    details,
    examples: ['export plants.csv', 'export --tag Araceae > araceae.ndjson'],
  })
    .argument('[file]', 'the file (default: standard output)')
    .addOption(
      new Option('--format <format>', 'default: by the extension, or ndjson').choices([
        'csv',
        'ndjson',
      ]),
    )
    .option('--tag <tag>', 'only plants with this tag')
    .action(exportPlants);

async function exportPlants(file: string | undefined, options: ExportOptions): Promise<void> {
  const { tag, format = file?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson' } = options;
  const store = connect(60_000);
  const incomplete = `${file}.incomplete`;
  const output = file === undefined ? process.stdout : createWriteStream(incomplete);
  const writePlants = async () => {
    const { start, rows } = plantWriter(format);
    await write(format === 'csv' ? `\ufeff${start}` : start, output);
    let after: string | undefined;
    do {
      const page = await store.listPlants.query({ tag, after, limit: maxPageSize });
      await write(rows(page.plants), output);
      after = page.next;
    } while (after !== undefined);
  };
  try {
    if (file === undefined) return await writePlants();
    // A file that cannot be written ends the wait for its next `drain`.
    await Promise.all([writePlants().then(() => output.end()), finished(output)]);
    await rename(incomplete, file);
  } catch (error) {
    const { message, ...rest } = explain(error);
    throw new CommandError(`${message}; the output is incomplete`, rest);
  }
}
