import { ListPlants, operations, PlantPage } from '@plant-store/schemas';
import { define } from './trpc/define.ts';

export const listPlants = define({
  type: 'query',
  scope: 'plants:read',
  tool: 'Lists plants by id: all plants, or those with a tag or with words in their names. If the result has `next`, even without plants, continue with `next` as `after`.',
  rest: operations.listPlants,
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
});
