import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './app-router.ts';
import type { PlantStoreClient } from './client.ts';
import { isRetryable, plantStoreError } from './errors.ts';
import { delayAfter } from './links.ts';

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

/**
 * Selects the plants that have this `tag`, have `search` in the name, and have an id greater than `after`. A
 * page has at most `limit` plants.
 */
export type PlantQuery = Inputs['listPlants'];

/** A plant in the store, with its id and the time of its creation. */
export type StoredPlant = Outputs['listPlants']['plants'][number];

/** A page of changes, and the cursor after the last change. */
export type PlantChanges = Outputs['listPlantChanges'];

/**
 * Yields all plants of the store, or the plants that match a query, ascending by id. The function requests a
 * page only when the loop needs more plants, so a `break` ends the requests. A plant that exists during the
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

interface ConnectionOptions {
  /**
   * Receives the error when the connection is down, and undefined when it works again. The updates continue by
   * themselves. Pass the error to `plantStoreError`.
   */
  onConnection?: ((error: unknown) => void) | undefined;
}

export interface FollowChangesOptions extends ConnectionOptions {
  /** The value `next` of an earlier page. By default, the loop begins at the end of the feed. */
  after?: string | undefined;
  /** The loop ends when this signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * Yields the changes page by page, so that a program can keep its own copy of the plants. The loop requests a
 * page after the program has processed the previous page, and continues after a temporary error.
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
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const input = { after, limit: 1000, wait: failures > 0 ? 0 : 20 };
      const options = { ...(signal && { signal }), context: { retry: false } };
      const page = await client.listPlantChanges.query(input, options);
      if (failures > 0) onConnection?.(undefined);
      failures = 0;
      if (page.next === after) continue;
      after = page.next;
      yield page;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isRetryable(error)) throw error;
      if (failures === 0) onConnection?.(error);
      await delay(delayAfter(++failures), signal);
    }
  }
}

function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}

export interface FollowOptions extends ConnectionOptions {
  /**
   * Receives the error that ends the updates. Pass this error to `plantStoreError`. Without `onError`, the
   * error becomes an unhandled rejection, which stops a Node process.
   */
  onError?: ((error: unknown) => void) | undefined;
}

interface Copy {
  /** Reads the plants. Each change that it misses comes later. */
  begin: (signal: AbortSignal) => Promise<void>;
  apply: (changes: PlantChanges['changes']) => void;
}

/**
 * Keeps a copy of the plants: begins it, and applies each change. Begins the copy again after the cursor has
 * expired.
 *
 * @returns a function that ends the updates
 */
export function follow(
  client: Pick<PlantStoreClient, 'listPlantChanges'>,
  { begin, apply }: Copy,
  { onError, onConnection }: FollowOptions,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async () => {
    let isBegun = false;
    for await (const { changes } of followChanges(client, { signal, onConnection })) {
      if (isBegun) apply(changes);
      else await begin(signal);
      isBegun = true;
    }
  };
  const repeat = async (failures = 0): Promise<void> => {
    try {
      await run();
    } catch (error) {
      if (signal.aborted) return;
      const goesOn = plantStoreError(error)?.kind === 'cursorExpired' || isRetryable(error);
      if (!goesOn) throw error;
      await delay(delayAfter(failures), signal);
      return repeat(Math.min(failures + 1, 5));
    }
  };
  const ended = repeat();
  if (onError) ended.catch(onError);
  return () => stopped.abort();
}

export interface FollowPlantsOptions extends FollowOptions {
  /** Follows only plants with this tag. */
  tag?: string | undefined;
  /** Receives all plants, ascending by id. Runs after the first list, and then after each page of changes. */
  onPlants: (plants: StoredPlant[]) => void;
}

/**
 * Reads the plants into memory, and then applies each change of the store. The updates continue after a lost
 * connection and after a restart of the server.
 *
 * @returns a function that ends the updates
 */
export function followPlants(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  { tag, onPlants, ...options }: FollowPlantsOptions,
): () => void {
  const plants = new Map<bigint, StoredPlant>();
  const show = () => onPlants([...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
  return follow(
    client,
    {
      async begin(signal) {
        plants.clear();
        for await (const plant of allPlants(client, { tag, limit: 1000 })) {
          signal.throwIfAborted();
          plants.set(plant.id, plant);
        }
        signal.throwIfAborted(); // An empty list skips the check in the loop.
        show();
      },
      apply(changes) {
        for (const { type, plant } of changes) {
          // A plant that was replaced may have lost the tag.
          const isShown = type !== 'deleted' && (tag === undefined || plant.tag === tag);
          if (isShown) plants.set(plant.id, plant);
          else plants.delete(plant.id);
        }
        show();
      },
    },
    options,
  );
}
