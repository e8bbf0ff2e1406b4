import * as z from 'zod';
import { maxWait } from './limits.ts';
import { integerBetween } from './plant.ts';
import { ListPlants, StoredPlant, unknownParameters } from './stored-plant.ts';

export const cursor = z.string({ error: 'must be a cursor: the `next` of a response' }).max(1_000, {
  error: 'must be a cursor: the `next` of a response',
});

const examples = ['NmM3YWFiMDFkMmU1NGYxYSA4MTM'];

export const ListPlantChanges = z
  .strictObject(
    {
      after: cursor
        .meta({
          description:
            'Only changes behind this cursor: the `next` of the response before. Without it, the ' +
            'response has no changes, and the cursor of the end of the feed',
          examples,
        })
        .optional(),
      limit: ListPlants.unwrap().shape.limit.meta({
        description: 'How many changes to return, at most',
        examples: [100],
      }),
      wait: integerBetween(0, maxWait)
        .default(0)
        .meta({ description: 'How many seconds to wait for a change, at most', examples: [20] }),
    },
    { error: unknownParameters },
  )
  .prefault({});

/** Selects where a follower begins in the feed. */
export const FollowPlantChanges = z
  .strictObject(
    {
      after: ListPlantChanges.unwrap().shape.after,
      /** Accepts any text. The procedure checks the cursor, and names `Last-Event-ID` in the error. */
      lastEventId: z.string('must be a string').optional(),
    },
    { error: unknownParameters },
  )
  .prefault({});

/** A plant that was created, replaced or deleted. */
export const PlantChange = z
  .object({
    type: z
      .enum(['created', 'updated', 'deleted'])
      .meta({ description: 'What happened', examples: ['created'] }),
    plant: StoredPlant,
  })
  .meta({ id: 'PlantChange' });

/** A list of changes, and the cursor after the last change. */
export const PlantChanges = z
  .object({
    changes: z.array(PlantChange).meta({
      description: 'Changes; those of one id are in the order in which they happened',
    }),
    next: z.string().meta({ description: 'The cursor behind these changes', examples }),
  })
  .meta({ id: 'PlantChanges' });

export type ListPlantChanges = z.output<typeof ListPlantChanges>;
export type PlantChange = z.output<typeof PlantChange>;
export type PlantChanges = z.output<typeof PlantChanges>;
