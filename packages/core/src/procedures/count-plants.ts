import { CountPlants, maxExactCount, operations, PlantCount } from '@plant-store/schemas';
import { define } from './trpc/define.ts';

export const countPlants = define({
  type: 'query',
  scope: 'plants:read',
  tool: 'Counts all plants, or the plants with a tag.',
  rest: operations.countPlants,
  summary: 'Counts plants',
  description:
    `A count up to ${maxExactCount} is exact. Where there are more plants, \`count\` is ` +
    `${maxExactCount} and \`isExact\` is false.`,
  returns: 'How many plants there are',
  input: CountPlants,
  output: PlantCount,
  run: ({ ctx: { store, deadline, caller }, input }) =>
    store.unchecked.count(input, { deadline, caller }),
});
