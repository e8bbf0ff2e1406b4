import * as z from 'zod';
import { ErrorBody } from './errors/error-body.ts';
import { int64Range } from './ids/int64-range.ts';
import { maxNewPlants } from './limits.ts';
import { NewPlant } from './plant.ts';
import { int64 } from './stored-plant.ts';

/** Cuts a list to one plant more than the limit, so that the schema rejects a very long list quickly. */
const firstPlants = z.transform((plants: z.input<typeof NewPlant>[]) =>
  Array.isArray(plants) ? plants.slice(0, maxNewPlants + 1) : plants,
);

const size = { error: `must be a list of 1 to ${maxNewPlants} plants` };

/** The input of the procedure that creates several plants. */
export const NewPlants = z
  .object(
    {
      plants: firstPlants
        .pipe(z.array(NewPlant, size).min(1, size).max(maxNewPlants, size))
        .meta({ description: 'The plants to create. Each one stands alone' }),
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewPlants' });

const id = int64.meta({ description: `The id of the plant, ${int64Range}`, examples: [4096] });

const CreatedPlant = z
  .object({
    id,
    result: z.enum(['created', 'exists']).meta({
      description: '`exists`: the same plant was in the store already',
      examples: ['created'],
    }),
  })
  .meta({ id: 'CreatedPlant' });

const CreateError = z
  .object({
    id,
    ...ErrorBody.shape,
    result: z.enum(['error']).meta({ description: 'Tells an error from a plant' }),
  })
  .meta({ id: 'CreateError' });

/** The result for one plant when a request creates several plants. */
export const CreateResult = z
  .discriminatedUnion('result', [CreatedPlant, CreateError])
  .meta({ id: 'CreateResult' });

export const CreateResults = z
  .object({
    results: z.array(CreateResult).meta({
      description: 'What became of each plant, in the order of the request',
      examples: [
        [
          { id: 4096, result: 'created' },
          {
            id: 1,
            error: 40900,
            message: 'id 1 belongs to another plant: choose an id that is free',
            result: 'error',
          },
        ],
      ],
    }),
  })
  .meta({ id: 'CreateResults' });

export type NewPlants = z.output<typeof NewPlants>;
export type CreateResult = z.output<typeof CreateResult>;
export type CreateResults = z.output<typeof CreateResults>;
