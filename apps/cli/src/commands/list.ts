import type { PlantQuery, PlantReader } from '@plant-store/core/read';
import { defaultPageSize, formatJson } from '@plant-store/schemas/plain';
import { Command } from 'commander';
import { jsonOption, parseCount, parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withReader } from '../command-line/with-store.ts';

export const listCommand = () =>
  new Command('list')
    .summary('show plants')
    .description('Show plants in order of id, each as a line of JSON.')
    .option('--tag <tag>', 'only plants with this tag')
    .option(
      '--after <id>',
      'only plants with a greater id: for the next page, the last id of this page',
      parseId,
    )
    .option('--limit <count>', 'the greatest number of plants to show', parseCount, defaultPageSize)
    .addOption(jsonOption('write an error as JSON, too'))
    .addHelpText('after', '\nExample:\n  plant-store list --tag Araceae --after 1000 --limit 50\n')
    .action((query: PlantQuery) => withReader((reader) => writeOutput(listPlants(reader, query))));

async function* listPlants(
  reader: PlantReader,
  { tag, after, limit }: PlantQuery,
): AsyncGenerator<string> {
  for await (const plants of reader.read({ tag, after, ...(limit !== undefined && { limit }) })) {
    yield plants.map((plant) => `${formatJson(plant)}\n`).join('');
  }
}
