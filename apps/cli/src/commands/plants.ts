import type { PlantQuery } from '@plant-store/client';
import { formatJson, type StoredPlant } from '@plant-store/schemas';
import { makeCommand, parseCount, parseId, write, writeJson } from '../command.ts';
import { connect } from '../store.ts';

export const listCommand = () =>
  makeCommand('list', 'show plants in the order of their ids')
    .option('--tag <tag>', 'only plants with this tag')
    .option('--search <text>', 'only plants whose name contains each word')
    .option('--after <id>', 'only plants with a greater id', parseId)
    .option('--limit <count>', 'the greatest number of plants, up to 1000', parseCount, 100)
    .action(async ({ json, ...query }: PlantQuery & { json?: true }) => {
      const { plants, next } = await connect().listPlants.query(query);
      await (json ? writeJson(...plants) : write(plants.map(lineOf).join('')));
      if (next === undefined) return;
      process.stderr.write(`plant-store: there are more plants: add --after ${next}\n`);
    });

export const getCommand = () =>
  makeCommand('get', 'show the plant with an id')
    .argument('<id>', 'the id of the plant', parseId)
    .action(async (id: bigint, { json }: { json?: true }) => {
      const plant = await connect().getPlant.query({ id });
      await (json ? writeJson(plant) : write(lineOf(plant)));
    });

export const countCommand = () =>
  makeCommand('count', 'count the plants, exactly up to a million')
    .option('--tag <tag>', 'only plants with this tag')
    .action(async ({ tag, json }: { tag?: string; json?: true }) => {
      const result = await connect().countPlants.query({ tag });
      const text = result.isExact ? `${result.count}\n` : `more than ${result.count}\n`;
      await (json ? writeJson(result) : write(text));
    });

interface WriteOptions {
  ifMatch?: string;
  json?: true;
}

export const replaceCommand = () =>
  makeCommand('replace', 'replace the name and the tag of a plant')
    .argument('<id>', 'the id of the plant', parseId)
    .requiredOption('--name <name>', 'the new name')
    .option('--tag <tag>', 'the new tag (default: the plant has no tag afterwards)')
    .option(...ifMatch)
    .action(
      async (id: bigint, { json, ...plant }: WriteOptions & { name: string; tag?: string }) => {
        const replaced = await connect().replacePlant.mutate({ id, ...plant });
        await (json ? writeJson(replaced) : write(lineOf(replaced)));
      },
    );

export const deleteCommand = () =>
  makeCommand('delete', 'delete the plant with an id, which is free afterwards')
    .argument('<id>', 'the id of the plant', parseId)
    .option(...ifMatch)
    .action(async (id: bigint, { json, ifMatch }: WriteOptions) => {
      await connect().deletePlant.mutate({ id, ifMatch });
      await (json ? writeJson({ id }) : write(`deleted the plant with the id ${id}\n`));
    });

const ifMatch = ['--if-match <etag>', 'only if the plant has this etag of get --json'] as const;

/** Formats a plant for a person. JSON escapes control characters such as ESC, which a terminal would execute. */
function lineOf({ id, name, tag }: StoredPlant): string {
  const texts = tag === undefined ? [name] : [name, tag];
  const line = [String(id).padEnd(19), ...texts.map((text) => formatJson(text))].join('  ');
  // JSON leaves these control characters, which some terminals execute.
  return `${line.replace(/[\u007f-\u009f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)}\n`;
}
