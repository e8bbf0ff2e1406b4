import {
  CountPlants,
  type CreateResult,
  CreateResults,
  DeletePlant,
  ListPlants,
  maxExactCount,
  NewPlant,
  NewPlants,
  Plant,
  PlantCount,
  PlantIdInput,
  PlantPage,
  PlantWithEtag,
  ReplacePlant,
} from '@plant-store/schemas';
import * as z from 'zod';
import { plantUnknown } from '../plant-store-error.ts';
import { contentOf } from '../plants/content.ts';
import type { ManyCreatesOutcome } from '../plants/creates.ts';
import { OutputText } from '../plants/output-text.ts';
import { define } from './trpc/define.ts';

/** The procedures on plants. `PlantStore` describes the methods that they call. */
export const plantProcedures = {
  createPlant: define({
    type: 'mutation',
    scope: 'plants:create',
    rest: { method: 'POST', path: '/plants', status: 200 },
    summary: 'Creates a plant',
    description:
      'The id makes a retry safe: a request that sends the same plant again also gets 200. ' +
      'A different plant with an id that is taken gets 409.\n\n' +
      'Send an id beyond ±9007199254740991 as raw JSON: JavaScript rounds numbers beyond that, ' +
      'and so does the form view of the API reference.',
    returns: 'Plant response',
    input: NewPlant,
    output: Plant,
    run: async ({ ctx: { store, deadline, caller }, input }) => {
      await store.unchecked.create(input, { deadline, caller });
      // REST sends this text. tRPC needs the same text, for which superjson would take several times longer.
      return new OutputText(JSON.stringify(contentOf(input)));
    },
  }),

  createPlants: define({
    type: 'mutation',
    scope: 'plants:create',
    tool: 'Creates up to 1,000 plants with ids that you choose. Each plant has a result of its own. A repeat is safe.',
    rest: { method: 'POST', path: '/plants/batch', status: 200 },
    summary: 'Creates several plants',
    description:
      'The response has a result for each plant, in the order of the request. A result is `created`, ' +
      '`exists` when the same plant was already in the store, or the error that a request with this ' +
      'plant alone would get, such as 40900 for an id that is taken. So a retry of the whole request ' +
      'is safe. Of the plants with the same id, the first is created first. When one of the plants is ' +
      'not a valid NewPlant, the whole request gets 40001, and no plant is created.',
    returns: 'The result of each plant',
    input: NewPlants,
    output: CreateResults,
    run: async ({ ctx: { store, deadline, caller, onError }, input: { plants } }) => {
      const outcomes = await store.unchecked.createMany(plants, { deadline, caller });
      // The procedure reports each kind of error once, because all plants may have the same error.
      const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
      for (const error of new Map(errors.map((each) => [each.kind, each])).values())
        onError?.(error);
      const results = outcomes.map(resultOf).map(resultJson);
      // Writing the results here is several times faster than superjson.
      return new OutputText(`{"results":[${results}]}`, (place) => `results.${place}.`);
    },
  }),

  getPlant: define({
    type: 'query',
    scope: 'plants:read',
    tool: 'Returns the plant with an id. Pass its `etag` as `ifMatch` to replace or delete only this version.',
    rest: { method: 'GET', path: '/plants/{id}', status: 200 },
    summary: 'Returns a plant',
    description: 'The header `ETag` changes with each replacement: see `If-Match`.',
    returns: 'The stored plant',
    input: PlantIdInput,
    output: PlantWithEtag,
    run: async ({ ctx: { store, deadline, caller }, input: { id } }) => {
      const plant = await store.unchecked.get(id, { deadline, caller });
      if (!plant) throw plantUnknown(id);
      return plant;
    },
  }),

  listPlants: define({
    type: 'query',
    scope: 'plants:read',
    tool: 'Lists plants by id: all plants, or those with a tag or with words in their names. If the result has `next`, even without plants, continue with `next` as `after`.',
    rest: { method: 'GET', path: '/plants', status: 200 },
    summary: 'Lists plants',
    description:
      'Pages are ascending by id. To read all plants, repeat the request with the `next` of each ' +
      'response as `after`, until a response has no `next`. A page whose names and tags exceed 1 MiB ' +
      'has fewer plants than `limit`.',
    returns: 'A page of plants',
    input: ListPlants,
    output: PlantPage,
    run: ({ ctx: { store, deadline, caller }, input }) =>
      store.unchecked.list(input, { deadline, caller }),
  }),

  countPlants: define({
    type: 'query',
    scope: 'plants:read',
    tool: 'Counts all plants, or the plants with a tag.',
    rest: { method: 'GET', path: '/plants/count', status: 200 },
    summary: 'Counts plants',
    description:
      `A count up to ${maxExactCount} is exact. With more plants, \`count\` is ${maxExactCount} and ` +
      '`isExact` is false.',
    returns: 'The number of plants',
    input: CountPlants,
    output: PlantCount,
    run: ({ ctx: { store, deadline, caller }, input }) =>
      store.unchecked.count(input, { deadline, caller }),
  }),

  replacePlant: define({
    type: 'mutation',
    scope: 'plants:update',
    tool: 'Replaces the name and the tag of a plant. A plant without `tag` loses its tag.',
    rest: { method: 'PUT', path: '/plants/{id}', status: 200 },
    summary: 'Replaces a plant',
    description:
      'Replaces the name and the tag of a stored plant. Without `tag`, the plant has no tag ' +
      'afterwards. With `If-Match`, replaces only the plant that you have read.',
    returns: 'The stored plant with its new content',
    input: ReplacePlant,
    output: PlantWithEtag,
    run: async ({ ctx: { store, deadline, caller }, input: { id, ifMatch, ...plant } }) => {
      const replaced = await store.unchecked.replace(id, plant, { deadline, caller, ifMatch });
      if (!replaced) throw plantUnknown(id);
      return replaced;
    },
  }),

  deletePlant: define({
    type: 'mutation',
    scope: 'plants:delete',
    tool: 'Deletes a plant. After an error, read the plant before you repeat the call without `ifMatch`.',
    rest: { method: 'DELETE', path: '/plants/{id}', status: 204 },
    summary: 'Deletes a plant',
    description:
      'The id is free afterwards. With `If-Match`, a repeated request deletes no other plant.',
    returns: 'The plant is deleted',
    input: DeletePlant,
    output: z.void(),
    run: async ({ ctx: { store, deadline, caller }, input: { id, ifMatch } }) => {
      const wasThere = await store.unchecked.delete(id, { deadline, caller, ifMatch });
      if (!wasThere) throw plantUnknown(id);
    },
  }),
};

function resultOf(outcome: ManyCreatesOutcome): CreateResult {
  if ('result' in outcome) return outcome;
  const { id, error } = outcome;
  return { id, error: error.code, message: error.message, result: 'error' };
}

function resultJson({ id, ...rest }: CreateResult): string {
  return `{"id":${id},${JSON.stringify(rest).slice(1)}`;
}
