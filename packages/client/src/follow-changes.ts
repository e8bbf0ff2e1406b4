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
  /** Yields only changes of plants with this tag. If there is a tag, a page may have no changes. */
  tag?: string | undefined;
  /** The loop ends when this signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * Yields the changes page by page, so that a program can update its own copy of the plants. The loop
 * continues after a temporary error. The loop requests a page only after the program has processed the
 * previous page.
 *
 * Without `after`, the first page has only a cursor. Store the cursor, list all plants, and then continue the
 * loop. Store each later cursor together with the changes of its page.
 *
 * @throws the error that ends the loop, such as `cursorExpired`. Pass this error to `plantStoreError`.
 */
export async function* followChanges(
  client: Pick<PlantStoreClient, 'listPlantChanges'>,
  { after, tag, signal }: FollowChangesOptions = {},
): AsyncGenerator<PlantChanges, void> {
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const input = { after, tag, limit: 1000, wait: 20 };
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

/** The feed may be off for this number of milliseconds, for example while somebody restores a backup. */
const patience = 5 * 60_000;

/**
 * Runs a function that follows the feed. Runs the function again after a temporary error, after the cursor
 * has expired, and for some minutes while the feed is off.
 *
 * @param follow the function. This function calls `onLive` when the first read of the store has succeeded.
 * @param onError gets the error that ends the updates. Without `onError`, the error is an unhandled
 *   rejection.
 */
export function followAgain(
  follow: (onLive: () => void) => Promise<void>,
  signal: AbortSignal,
  onError?: (error: unknown) => void,
): void {
  let failures = 0;
  /**
   * The time when the feed was switched off, in milliseconds since 1970. Before the first list of plants, the
   * time is in the distant past, so that the client does not wait for the feed.
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
