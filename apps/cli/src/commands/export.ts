import type { PlantQuery, PlantStore } from '@plant-store/core';
import { Command, Option } from 'commander';
import { parseMoment } from '../command-line/options.ts';
import { writeOut } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';
import { type FormatName, formatNames, plantFormats } from '../formats/plant-formats.ts';

interface ExportOptions extends PlantQuery {
  format: FormatName;
}

export const exportCommand = () =>
  new Command('export')
    .summary('write all plants to standard output')
    .description(
      'Write all plants to standard output, in order of id. Importing them into an empty store\n' +
        'restores it exactly. Memory does not grow with the store.',
    )
    .addOption(
      new Option('--format <format>', 'of the output').choices(formatNames).default('ndjson'),
    )
    .option(
      '--since <moment>',
      'those that the store got then or later (2026-11-01, 2026-11-01T09:30:00Z, or 24h for a day ago)',
      (text) => parseMoment(text),
    )
    .addHelpText(
      'after',
      '\nExample:\n  plant-store export --format csv --since 24h > plants.csv\n',
    )
    .action((options: ExportOptions) => withStore((store) => writeOut(lines(store, options))));

async function* lines(store: PlantStore, options: ExportOptions): AsyncGenerator<string> {
  const { header, write } = plantFormats[options.format];
  yield header;
  for await (const plants of store.read({ since: options.since })) {
    yield plants
      .map(({ id, name, tag }) => write({ id, name, ...(tag !== undefined && { tag }) }))
      .join('');
  }
}
