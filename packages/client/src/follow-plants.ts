import { isTRPCClientError } from '@trpc/client';
import { allPlants, type StoredPlant } from './all-plants.ts';
import type { AppRouter } from './app-router.ts';
import type { PlantStoreClient } from './plant-store-client.ts';
import { plantStoreError } from './plant-store-error.ts';
import { delayAfter, mayPass } from './reconnect.ts';

export interface FollowPlantsOptions {
  /** Follows only plants with this tag. */
  tag?: string | undefined;
  /** Receives all plants, ascending by id. Runs after the first list, and then after changes. */
  onPlants: (plants: StoredPlant[]) => void;
  /**
   * Receives the error that ends the updates. Pass this error to `plantStoreError`. Without this function,
   * the error becomes an unhandled rejection, which stops a Node process.
   */
  onError?: (error: unknown) => void;
}

/** The feed may be off for this number of milliseconds, for example while somebody restores a backup. */
const patience = 5 * 60_000;

/**
 * Keeps a copy of the plants in memory up to date. The updates go on after a lost connection, a restart of
 * the server, or a short time without a feed.
 *
 * @returns a function that ends the updates
 */
export function followPlants(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges' | 'plantChanges'>,
  { tag, onPlants, onError }: FollowPlantsOptions,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  let failures = 0;
  /**
   * The time when the feed was switched off, in milliseconds since 1970. Before the first list, the client
   * does not wait for the feed.
   */
  let offSince: number | undefined = Number.NEGATIVE_INFINITY;

  /** The cursor is older than the list, so all changes that the list lacks are behind the cursor. */
  async function follow(): Promise<void> {
    const { next: after } = await client.listPlantChanges.query({}, { signal });
    const plants = new Map<bigint, StoredPlant>();
    for await (const plant of allPlants(client, { tag, limit: 1000 })) {
      signal.throwIfAborted();
      plants.set(plant.id, plant);
    }
    signal.throwIfAborted(); // For an empty list, the check in the loop does not run.
    failures = 0;
    offSince = undefined;
    const show = () => onPlants([...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    show();
    await new Promise<void>((resolve, reject) => {
      client.plantChanges.subscribe(
        { after },
        {
          signal,
          onComplete: resolve,
          onError: reject,
          onData({ data: { changes } }) {
            for (const { type, plant } of changes) {
              // A plant may be deleted and created again with another tag. The feed may contain only the
              // create.
              const isShown = type === 'created' && (tag === undefined || plant.tag === tag);
              if (isShown) plants.set(plant.id, plant);
              else plants.delete(plant.id);
            }
            show();
          },
        },
      );
    });
  }

  function start(): void {
    follow().catch((error: unknown) => {
      if (signal.aborted) return;
      const kind = plantStoreError(error)?.kind;
      const isOff = kind === 'notImplemented';
      if (isOff) offSince ??= Date.now();
      const goesOn =
        kind === 'cursorExpired' ||
        (isOff && Date.now() - (offSince ?? 0) < patience) ||
        (isTRPCClientError<AppRouter>(error) && mayPass(error));
      if (!goesOn && !onError) throw error;
      if (!goesOn) return onError?.(error);
      const timer = setTimeout(start, delayAfter(++failures));
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
  }

  start();
  return () => stopped.abort();
}
