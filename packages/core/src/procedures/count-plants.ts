import { CountPlants, maxExactCount, operations, PlantCount } from '@plant-store/schemas';
import { define } from './trpc/define.ts';

/** Counts plants up to `maxExactCount`. A count up to this number takes a fraction of a second. */
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
  run: async ({ ctx: { store, deadline, caller }, input }) => {
    const counted = await store.countUpTo(maxExactCount + 1, input, { deadline, caller });
    return { count: Math.min(counted, maxExactCount), isExact: counted <= maxExactCount };
  },
});
