import { type PlantStoreClient, plantStoreError } from '@plant-store/client';
import { maxBatchSize, maxPageSize } from '@plant-store/schemas';

/**
 * Suggests an id that is free now: the least positive one of a small store. In a store without a gap
 * among the first ids, the first free one of a few greater ids.
 */
export async function suggestId(client: PlantStoreClient): Promise<bigint> {
  const { plants, next } = await client.listPlants.query({ after: 0n, limit: maxPageSize });
  const gap = plants.findIndex(({ id }, i) => id !== BigInt(i + 1));
  if (gap >= 0) return BigInt(gap + 1);
  if (next === undefined) return BigInt(plants.length + 1);

  const candidates = Array.from({ length: maxBatchSize }, (_, i) =>
    BigInt(maxPageSize * 4 ** i + 1),
  );
  const isFree = await Promise.all(candidates.map((id) => findsNothing(client, id)));
  return candidates.find((_, i) => isFree[i]) ?? randomId();
}

async function findsNothing(client: PlantStoreClient, id: bigint): Promise<boolean> {
  try {
    await client.getPlant.query({ id });
    return false;
  } catch (error) {
    if (plantStoreError(error)?.kind === 'plantUnknown') return true;
    throw error;
  }
}

/** An id that is free with near certainty, of digits that a JavaScript number holds. */
export function randomId(): bigint {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (BigInt(high % 2 ** 20) << 32n) + BigInt(low) + 1n;
}
