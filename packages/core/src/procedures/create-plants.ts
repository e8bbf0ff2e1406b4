import { type CreateResult, CreateResults, NewPlants, operations } from '@plant-store/schemas';
import { OutputText } from '../plants/output-text.ts';
import type { ManyCreatesOutcome } from '../writes/creates.ts';
import { define } from './trpc/define.ts';

/** Creates several plants. Each plant has its own outcome: see `PlantStore.createMany`. */
export const createPlants = define({
  type: 'mutation',
  scope: 'plants:create',
  tool: 'Creates up to 1,000 plants with ids that you choose. Each plant has a result of its own. A repeat is safe.',
  rest: operations.createPlants,
  summary: 'Creates several plants',
  description:
    'Each plant stands alone: the response has a result for each one, in the order of the request. ' +
    'It is `created`, `exists` when the same plant was in the store already, or the error that a ' +
    'request with this plant alone would get, such as 40900 for an id that is taken. So a retry ' +
    'of the whole request is safe. Of the plants with the same id, the first is created first. ' +
    'When one of the plants is not a valid NewPlant, the whole request gets 40001, and none is ' +
    'created.',
  returns: 'The result of each plant',
  input: NewPlants,
  output: CreateResults,
  run: async ({ ctx: { store, deadline, caller, onError }, input: { plants } }) => {
    const outcomes = await store.unchecked.createMany(plants, { deadline, caller });
    // Each kind of error is reported once, because all plants of a batch may have the same error.
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
    for (const error of new Map(errors.map((each) => [each.kind, each])).values()) onError?.(error);
    const results = outcomes.map(resultOf).map(resultJson);
    // Writing the results here is several times faster than by superjson.
    return new OutputText(`{"results":[${results}]}`, (place) => `results.${place}.`);
  },
});

function resultOf(outcome: ManyCreatesOutcome): CreateResult {
  if ('result' in outcome) return outcome;
  const { id, error } = outcome;
  return { id, error: error.code, message: error.message, result: 'error' };
}

function resultJson({ id, ...rest }: CreateResult): string {
  return `{"id":${id},${JSON.stringify(rest).slice(1)}`;
}
