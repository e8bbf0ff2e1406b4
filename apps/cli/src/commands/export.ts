import type { PlantQuery, PlantStore } from '@plant-store/core';
import { Command, Option } from 'commander';
import { parseTime } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';
import { type FormatName, formatNames, plantFormats } from '../formats/plant-formats.ts';

interface ExportOptions extends PlantQuery {
  format: FormatName;
}

export const exportCommand = () =>
  new Command('export')
    .summary('write all plants to standard output')
    .description(
      'Write all plants to standard output, in order of id. An import of this output into an empty ' +
        'store restores the plants exactly. Memory use does not grow with the store.',
    )
    .addOption(
      new Option('--format <format>', 'the format of the output')
        .choices(formatNames)
        .default('ndjson'),
    )
    .option(
      '--since <time>',
      'only plants created at this time or later: 2026-11-01 (UTC), 2026-11-01T09:30:00Z, or 24h for the last 24 hours',
      (text) => parseTime(text),
    )
    .addHelpText(
      'after',
      '\nExample:\n  plant-store export --format csv --since 24h > plants.csv\n',
    )
    .action((options: ExportOptions) =>
      withStore((store) => writeOutput(exportPlants(store, options)), {
        readOnly: true,
        needs: { plants: ['SELECT'] },
      }),
    );

async function* exportPlants(store: PlantStore, options: ExportOptions): AsyncGenerator<string> {
  const { header, write } = plantFormats[options.format];
  yield header;
  for await (const plants of store.read({ since: options.since })) {
    yield plants
      .map(({ id, name, tag }) => write({ id, name, ...(tag !== undefined && { tag }) }))
      .join('');
  }
}
