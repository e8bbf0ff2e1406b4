import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { PlantStoreClient } from '@plant-store/client';
import { type Format, plantWriter } from '@plant-store/formats';
import { maxPageSize } from '@plant-store/schemas/plain';
import { Command, Option } from 'commander';
import { examples } from '../arguments.ts';
import { CommandError, explain } from '../errors.ts';
import { write } from '../output.ts';
import { connect } from '../store.ts';

const help = `
A plant that exists during the whole export is in it exactly once. The command reads the store page by page,
so it never holds back other users. A file has the extension .incomplete until it is complete.
`;

interface ExportOptions {
  tag?: string;
  search?: string;
  format?: Format;
}

export const exportCommand = () =>
  new Command('export')
    .summary('write all plants to standard output or a file')
    .description(
      'Write all plants as NDJSON, or as CSV for spreadsheet programs (UTF-8 with a byte order mark).',
    )
    .argument('[file]', 'the file (default: standard output)')
    .addOption(
      new Option(
        '--format <format>',
        'default: csv for a file with the extension .csv, or ndjson',
      ).choices(['csv', 'ndjson']),
    )
    .option('--tag <tag>', 'only plants with this tag')
    .option('--search <text>', 'only plants whose name contains this text')
    .option('--json', 'write an error as JSON')
    .addHelpText(
      'after',
      help + examples('export plants.csv', 'export --tag Araceae > araceae.ndjson'),
    )
    .action(exportPlants);

async function exportPlants(file: string | undefined, { format, ...query }: ExportOptions) {
  const store = connect({ timeout: 60_000 });
  const known = format ?? (file?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson');
  const incomplete = `${file}.incomplete`;
  const output = file === undefined ? process.stdout : createWriteStream(incomplete);
  if (output === process.stdout) return writePlants();
  // A file that cannot be written ends the wait for its next `drain`.
  await Promise.all([writePlants().then(() => output.end()), finished(output)]);
  await rename(incomplete, `${file}`);

  async function writePlants(): Promise<void> {
    try {
      for await (const text of textOf(store, known, query)) await write(text, output);
    } catch (error) {
      const { message, ...rest } = explain(error);
      throw new CommandError(`${message}; the output is incomplete`, rest);
    }
  }
}

async function* textOf(
  store: PlantStoreClient,
  format: Format,
  query: Omit<ExportOptions, 'format'>,
) {
  const { start, rows } = plantWriter(format);
  // The byte order mark makes spreadsheet programs read umlauts.
  yield format === 'csv' ? `\ufeff${start}` : start;
  let after: bigint | undefined;
  do {
    const page = await store.listPlants.query({ ...query, after, limit: maxPageSize });
    yield rows(page.plants);
    after = page.next;
  } while (after !== undefined);
}
