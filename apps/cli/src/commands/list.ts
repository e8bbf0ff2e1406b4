import type { PlantQuery, PlantStore } from '@plant-store/core';
import { defaultPageSize, formatJson } from '@plant-store/schemas';
import { Command } from 'commander';
import { parseCount, parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';

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
    .addHelpText('after', '\nExample:\n  plant-store list --tag Araceae --after 1000 --limit 50\n')
    .action((query: PlantQuery) => withStore((store) => writeOutput(listPlants(store, query))));

async function* listPlants(store: PlantStore, query: PlantQuery): AsyncGenerator<string> {
  for await (const plants of store.read(query)) {
    yield plants.map((plant) => `${formatJson(plant)}\n`).join('');
  }
}
