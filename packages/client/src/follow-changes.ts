import { isTRPCClientError } from '@trpc/client';
import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './app-router.ts';
import type { PlantStoreClient } from './plant-store-client.ts';
import { plantStoreError } from './plant-store-error.ts';
import { delayAfter, mayPass } from './reconnect.ts';

/** A page of changes, and the cursor after the last change. */
export type PlantChanges = inferRouterOutputs<AppRouter>['listPlantChanges'];

export interface FollowChangesOptions {
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
  { after, signal }: FollowChangesOptions = {},
): AsyncGenerator<PlantChanges, void> {
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const input = { after, limit: 1000, wait: 20 };
      const page = await client.listPlantChanges.query(input, signal && { signal });
      failures = 0;
      if (page.next === after) continue;
      after = page.next;
      yield page;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTRPCClientError<AppRouter>(error) || !mayPass(error)) throw error;
      await delay(delayAfter(++failures), signal);
    }
  }
}

function delay(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
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

/** Milliseconds to wait while the feed is off, for example while an operator restores a backup. */
const patience = 5 * 60_000;

/**
 * Calls `follow`, and again after a temporary error, after the cursor has expired, and for some minutes while
 * the feed is off. `follow` must call `onLive` after its first successful read. Any other error ends the
 * calls, and goes to `onError`, or becomes an unhandled rejection.
 */
export function followAgain(
  follow: (onLive: () => void) => Promise<void>,
  signal: AbortSignal,
  onError?: (error: unknown) => void,
): void {
  let failures = 0;
  /**
   * When `follow` first found the feed off, in milliseconds since 1970. Before the first `onLive`, the value
   * is minus infinity, so that a feed that is off ends the calls immediately.
   */
  let offSince: number | undefined = Number.NEGATIVE_INFINITY;
  const onLive = () => {
    failures = 0;
    offSince = undefined;
  };
  const start = () => {
    follow(onLive).catch(async (error: unknown) => {
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
      await delay(delayAfter(++failures), signal);
      if (!signal.aborted) start();
    });
  };
  start();
}
