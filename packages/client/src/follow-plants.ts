import { allPlants, type StoredPlant } from './all-plants.ts';
import { followAgain, followChanges, type PlantChanges } from './follow-changes.ts';
import type { PlantStoreClient } from './plant-store-client.ts';
import { plantStoreError } from './plant-store-error.ts';

export interface FollowPlantsOptions {
  /** Follows only plants with this tag. */
  tag?: string | undefined;
  /** Receives all plants, ascending by id. Runs after the first list, and then after each page of changes. */
  onPlants: (plants: StoredPlant[]) => void;
  /**
   * Receives the error that ends the updates. Pass this error to `plantStoreError`. Without `onError`, the
   * error becomes an unhandled rejection, which stops a Node process.
   */
  onError?: (error: unknown) => void;
}

type Client = Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges' | 'plantChanges'>;

/**
 * Reads the plants into memory, and then applies each change of the store. The updates continue after a lost
 * connection, after a restart of the server, and when the feed was off for less than five minutes.
 *
 * @returns a function that ends the updates
 */
export function followPlants(
  client: Client,
  { tag, onPlants, onError }: FollowPlantsOptions,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;

  /** Reads the cursor before the list. Each change that the list misses then comes after the cursor. */
  async function follow(onLive: () => void): Promise<void> {
    const { next } = await client.listPlantChanges.query({}, { signal });
    const plants = new Map<bigint, StoredPlant>();
    for await (const plant of allPlants(client, { tag, limit: 1000 })) {
      signal.throwIfAborted();
      plants.set(plant.id, plant);
    }
    signal.throwIfAborted(); // An empty list skips the check in the loop.
    onLive();
    const show = () => onPlants([...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    show();
    await readChanges(client, { after: next, signal }, ({ changes }) => {
      for (const { type, plant } of changes) {
        // A plant that was replaced may have lost the tag.
        const isShown = type !== 'deleted' && (tag === undefined || plant.tag === tag);
        if (isShown) plants.set(plant.id, plant);
        else plants.delete(plant.id);
      }
      show();
    });
  }

  followAgain(follow, signal, onError);
  return () => stopped.abort();
}

/** Reads the changes from the stream of events, or page by page on a platform that cannot read a stream. */
async function readChanges(
  client: Client,
  { signal, ...start }: { after: string; signal: AbortSignal },
  onPage: (page: PlantChanges) => void,
): Promise<void> {
  let { after } = start;
  try {
    await new Promise<void>((resolve, reject) => {
      client.plantChanges.subscribe(
        { after },
        {
          signal,
          onComplete: resolve,
          onError: reject,
          onData({ data }) {
            after = data.next;
            onPage(data);
          },
        },
      );
    });
  } catch (error) {
    if (plantStoreError(error)?.kind !== 'noStream') throw error;
    for await (const page of followChanges(client, { after, signal })) onPage(page);
  }
}
