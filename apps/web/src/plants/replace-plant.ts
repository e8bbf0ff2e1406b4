import type { PlantStoreClient } from '@plant-store/client';
import type { Plant, StoredPlant } from '@plant-store/schemas';

interface Replacement extends Plant {
  readonly id: bigint;
  /** The `etag` of the plant that the user has seen. Another plant with this id is then not replaced. */
  readonly ifMatch?: string | undefined;
}

/** Gives a plant another name or tag. */
export function replacePlant(client: PlantStoreClient, input: Replacement): Promise<StoredPlant> {
  // The cast is needed until the router has the procedure.
  const { replacePlant } = client as unknown as {
    replacePlant: { mutate(input: Replacement): Promise<StoredPlant> };
  };
  return replacePlant.mutate(input);
}
