import { allPlants, type StoredPlant } from '@plant-store/client';
import { formatJson, maxPageSize } from '@plant-store/schemas/plain';
import { Argument, Command } from 'commander';
import { examples, parseCount, parseId } from '../arguments.ts';
import { write, writeJson } from '../output.ts';
import { connect } from '../store.ts';

const asJson = ['--json', 'write the result and an error as JSON'] as const;
const id = () => new Argument('<id>', 'the id of the plant').argParser(parseId);

interface ListOptions {
  tag?: string;
  search?: string;
  after?: bigint;
  limit: number;
  json?: true;
}

export const listCommand = () =>
  new Command('list')
    .summary('show plants')
    .description('Show plants in the order of their ids. `export` writes all plants.')
    .option('--tag <tag>', 'only plants with this tag')
    .option('--search <text>', 'only plants whose name contains this text')
    .option('--after <id>', 'only plants with a greater id', parseId)
    .option('--limit <count>', 'the greatest number of plants', parseCount, 100)
    .option('--json', 'write each plant as a line of JSON, and an error as JSON')
    .addHelpText('after', examples('list --tag Araceae --after 1000 --limit 50'))
    .action(async ({ limit, json, ...query }: ListOptions) => {
      const size = Math.min(limit + 1, maxPageSize);
      let left = limit;
      let last: bigint | undefined;
      for await (const plant of allPlants(connect(), { ...query, limit: size })) {
        if (left-- === 0) {
          process.stderr.write(`plant-store: there are more plants: add --after ${last}\n`);
          return;
        }
        await (json ? writeJson(plant) : write(lineOf(plant)));
        last = plant.id;
      }
    });

export const getCommand = () =>
  new Command('get')
    .summary('show one plant')
    .description('Show the plant with this id.')
    .addArgument(id())
    .option(...asJson)
    .addHelpText('after', examples('get 9007199254740993'))
    .action(async (id: bigint, { json }: { json?: true }) => {
      const plant = await connect().getPlant.query({ id });
      await (json ? writeJson(plant) : write(lineOf(plant)));
    });

export const countCommand = () =>
  new Command('count')
    .summary('count the plants')
    .description(
      'Count all plants, or the plants with a tag. Beyond a million, the count is not exact.',
    )
    .option('--tag <tag>', 'only plants with this tag')
    .option(...asJson)
    .addHelpText('after', examples('count --tag Araceae'))
    .action(async ({ tag, json }: { tag?: string; json?: true }) => {
      const result = await connect().countPlants.query({ tag });
      const text = result.isExact ? `${result.count}\n` : `more than ${result.count}\n`;
      await (json ? writeJson(result) : write(text));
    });

export const deleteCommand = () =>
  new Command('delete')
    .summary('delete one plant')
    .description('Delete the plant with this id. The id is free afterwards.')
    .addArgument(id())
    .option(...asJson)
    .addHelpText('after', examples('delete 9007199254740993'))
    .action(async (id: bigint, { json }: { json?: true }) => {
      await connect().deletePlant.mutate({ id });
      await (json ? writeJson({ id }) : write(`deleted the plant with the id ${id}\n`));
    });

/** Formats a plant for a person. JSON keeps control characters of a name away from the terminal. */
function lineOf({ id, name, tag }: StoredPlant): string {
  return `${String(id).padEnd(19)}  ${formatJson(name)}${tag === undefined ? '' : `  ${formatJson(tag)}`}\n`;
}
