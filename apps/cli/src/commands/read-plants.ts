import type { PlantQuery, PlantReader } from '@plant-store/core/read';
import { defaultPageSize, formatJson } from '@plant-store/schemas/plain';
import { Argument, Command } from 'commander';
import { plantUnknown } from '../command-line/errors.ts';
import { parseCount, parseId, parseSearch } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withReader } from '../command-line/with-store.ts';

export const getCommand = () =>
  new Command('get')
    .summary('show one plant')
    .description('Show the plant with this id, as JSON.')
    .addArgument(new Argument('<id>', "the plant's id").argParser(parseId))
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', '\nExample:\n  plant-store get 9007199254740993\n')
    .action(async (id: bigint) => {
      const plant = await withReader((reader) => reader.get(id));
      if (!plant) throw plantUnknown(id);
      await writeOutput([`${formatJson(plant)}\n`]);
    });

export const listCommand = () =>
  new Command('list')
    .summary('show plants')
    .description(
      'Show plants in order of id, each as a line of JSON: the first 100, or as many as `--limit` says. ' +
        'When there are more, a line on standard error says so. `export` writes all plants.',
    )
    .option('--tag <tag>', 'only plants with this tag')
    .option(
      '--search <text>',
      'only plants whose name contains this text, in upper or lower case',
      parseSearch,
    )
    .option(
      '--after <id>',
      'only plants with a greater id: for the next page, the last id of this page',
      parseId,
    )
    .option('--limit <count>', 'the greatest number of plants to show', parseCount, defaultPageSize)
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', '\nExample:\n  plant-store list --tag Araceae --after 1000 --limit 50\n')
    .action((query: PlantQuery) => withReader((reader) => writeOutput(listPlants(reader, query))));

async function* listPlants(
  reader: PlantReader,
  { limit = defaultPageSize, ...query }: PlantQuery,
): AsyncGenerator<string> {
  let left = limit;
  let last = query.after;
  // Reads one plant more than the limit, to find out whether there are more plants.
  for await (const plants of reader.read({ ...query, limit: limit + 1 })) {
    const shown = plants.slice(0, left);
    left -= shown.length;
    last = shown.at(-1)?.id ?? last;
    yield shown.map((plant) => `${formatJson(plant)}\n`).join('');
    if (shown.length < plants.length) {
      process.stderr.write(`plant-store: there are more plants: add --after ${last}\n`);
    }
  }
}

interface CountOptions {
  tag?: string;
  json?: true;
}

export const countCommand = () =>
  new Command('count')
    .summary('count the plants')
    .description(
      'Count all plants, or the plants with a tag. The database reads each of these plants, which may ' +
        'take minutes for many millions of plants.',
    )
    .option('--tag <tag>', 'only plants with this tag')
    .option('--json', 'write the count, or an error, as JSON')
    .addHelpText('after', '\nExample:\n  plant-store count --tag Araceae\n')
    .action(async ({ tag, json }: CountOptions) => {
      const count = await withReader((reader) => reader.count({ tag }));
      await writeOutput([`${json ? formatJson({ count }) : count}\n`]);
    });
