import type { PlantChanges, StoredPlant } from '@plant-store/schemas';
import type { inferRouterInputs } from '@trpc/server';
import type { AppRouter, PlantStoreClient } from './client.ts';
import { isRetryable, plantStoreError } from './errors.ts';

/** The parameters of `listPlants`. A page has at most `limit` plants. */
export type PlantQuery = Exclude<inferRouterInputs<AppRouter>['listPlants'], void>;

/**
 * Yields all plants of the store, or the plants that match a query, ascending by id. The function requests a
 * page only when your loop needs more plants, so a `break` ends the requests. A plant that exists during the
 * whole loop is yielded exactly once, even when other clients create and delete plants.
 *
 * @throws the error of a call: see `plantStoreError`. To continue, pass the id of the last plant as `after`.
 */
export async function* allPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  query: PlantQuery = {},
): AsyncGenerator<StoredPlant, void> {
  let { after } = query;
  do {
    const page = await client.listPlants.query({ ...query, after });
    yield* page.plants;
    after = page.next;
  } while (after !== undefined);
}

export interface FollowOptions {
  /** Receives the error when the connection is down, and undefined when it works again. */
  onConnection?: ((error: unknown) => void) | undefined;
  /**
   * Receives the error that ends the updates. Without `onError`, the error becomes an unhandled rejection, which
   * stops a Node process.
   */
  onError?: ((error: unknown) => void) | undefined;
}

interface FollowChangesOptions extends Pick<FollowOptions, 'onConnection'> {
  /** The value `next` of an earlier page. By default, the loop begins at the end of the feed. */
  after?: string | undefined;
  /** The loop ends when this signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * Yields the changes page by page, so that a program can keep its own copy of the plants. The loop polls: it
 * requests a page after the program has processed the previous page, and continues after a temporary error.
 *
 * Without `after`, the first page contains a cursor and no changes: store the cursor, and list all plants.
 * Then continue the loop, and store the cursor of each page together with the page's changes.
 *
 * @throws the error that ends the loop, such as `cursorExpired`. Pass this error to `plantStoreError`.
 */
export async function* followChanges(
  client: Pick<PlantStoreClient, 'listPlantChanges'>,
  { after, signal, onConnection }: FollowChangesOptions = {},
): AsyncGenerator<PlantChanges, void> {
  let isDown = false;
  while (!signal?.aborted) {
    try {
      const input = { after, limit: 1000, wait: isDown ? 0 : 20 };
      const page = await client.listPlantChanges.query(input, signal && { signal });
      if (isDown) onConnection?.(undefined);
      isDown = false;
      if (page.next === after) continue;
      after = page.next;
      yield page;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isRetryable(error)) throw error;
      if (!isDown) onConnection?.(error);
      isDown = true;
      await pause();
    }
  }
}

/** Waits for a random time of about a second, so that clients reconnect at different times. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 500 + Math.random() * 1_000));

/**
 * Calls `update` first without changes, to read all plants, and then with each page of changes. Begins again
 * after a temporary error of `update`, and when the cursor has expired.
 *
 * @returns a function that ends the updates
 */
export function follow(
  client: Pick<PlantStoreClient, 'listPlantChanges'>,
  update: (signal: AbortSignal, changes?: PlantChanges['changes']) => Promise<void>,
  { onError, onConnection }: FollowOptions,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async () => {
    while (!signal.aborted) {
      let isBegun = false;
      try {
        for await (const { changes } of followChanges(client, { signal, onConnection })) {
          await update(signal, isBegun ? changes : undefined);
          isBegun = true;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (plantStoreError(error)?.kind !== 'cursorExpired' && !isRetryable(error)) throw error;
        await pause();
      }
    }
  };
  const ended = run();
  if (onError) ended.catch(onError);
  return () => stopped.abort();
}

interface FollowPlantsOptions extends FollowOptions {
  /** Follows only plants with this tag. */
  tag?: string | undefined;
  /** Receives all followed plants, ascending by id, after each list and after each page of changes. */
  onPlants: (plants: StoredPlant[]) => void;
}

/**
 * Reads the plants into memory, and then polls for each change of the store. The updates continue after a lost
 * connection and after a restart of the server.
 *
 * @returns a function that ends the updates
 */
export function followPlants(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  { tag, onPlants, ...options }: FollowPlantsOptions,
): () => void {
  const plants = new Map<bigint, StoredPlant>();
  const update = async (signal: AbortSignal, changes?: PlantChanges['changes']) => {
    if (!changes) plants.clear();
    for await (const plant of changes ? [] : allPlants(client, { tag, limit: 1000 })) {
      if (signal.aborted) return;
      plants.set(plant.id, plant);
    }
    for (const { type, plant } of changes ?? []) {
      // A replaced plant may no longer have the tag.
      const isShown = type !== 'deleted' && (tag === undefined || plant.tag === tag);
      if (isShown) plants.set(plant.id, plant);
      else plants.delete(plant.id);
    }
    if (!signal.aborted) onPlants([...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
  };
  return follow(client, update, options);
}
