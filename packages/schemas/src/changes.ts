import * as z from 'zod';
import { Cursor, cursorExample, integerBetween, pageLimit, parameters, textOut } from './fields.ts';
import { output } from './plant.ts';
import { StoredPlant } from './plant-operations.ts';

const after = Cursor.meta({
  description:
    'Only changes after this cursor: the `next` of the previous response. Without a cursor, the response ' +
    'has no changes, and the cursor of the end of the feed',
  examples: [cursorExample],
}).optional();

export const ListPlantChanges = parameters({
  after,
  limit: pageLimit('changes'),
  wait: integerBetween(0, 20)
    .default(0)
    .meta({ description: 'The maximum number of seconds to wait for a change' }),
}).prefault({});

/** The input of the subscription `plantChanges`. */
export const FollowPlantChanges = parameters({
  after,
  /** tRPC's client adds this cursor. An `EventSource` sends the cursor in a header. The procedure checks the cursor. */
  lastEventId: z.string('must be a string').optional(),
}).prefault({});

/** A plant that was created, replaced or deleted. */
export const PlantChange = output('PlantChange', {
  type: z.enum(['created', 'updated', 'deleted']).meta({ description: 'What happened' }),
  plant: StoredPlant,
});

/** A list of changes, and the cursor after the last change. */
export const PlantChanges = output('PlantChanges', {
  changes: z.array(PlantChange).meta({
    description: 'Changes; the changes of one id are in the order in which they happened',
  }),
  next: textOut('The cursor after these changes', cursorExample),
});

export type ListPlantChanges = z.output<typeof ListPlantChanges>;
export type PlantChange = z.output<typeof PlantChange>;
export type PlantChanges = z.output<typeof PlantChanges>;
