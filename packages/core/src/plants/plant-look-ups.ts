import type { StoredPlant } from '@plant-store/schemas';
import type { Coalescer } from '../database/coalescer.ts';
import { createLookUps } from '../database/look-ups.ts';
import type { PlantStatements } from './statements.ts';

/** Makes a coalescer that looks up plants by their ids. */
export function createPlantLookUps(
  { find }: Pick<PlantStatements, 'find'>,
  maxInFlight: number,
): Coalescer<bigint, StoredPlant | undefined> {
  return createLookUps<bigint, StoredPlant>({
    what: 'plants',
    maxInFlight,
    async find(ids, deadline) {
      const found = await find(ids, deadline);
      return new Map(found.map((plant) => [plant.id, plant]));
    },
  });
}
