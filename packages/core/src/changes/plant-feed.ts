import { setTimeout } from 'node:timers/promises';
import type { ListPlantChanges, PlantChanges } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { generate } from '../generate.ts';
import { type Cursor, formatCursor, parseCursor } from './cursor.ts';
import { FeedEnd, isPassing, type WaitOptions } from './feed-end.ts';
import { cursorBefore } from './first-change.ts';
import { hasNews, type SharedPage, toShared, withTag } from './kept-pages.ts';
import { createChangeReader, type ReadChanges } from './read-changes.ts';

export interface FollowOptions extends WaitOptions {
  /** The cursor after which `follow` begins: the `next` of a page. Default: the end of the feed. */
  readonly after?: string | undefined;
  /** Yields only changes of plants with this tag. With a tag, a page may have no changes. */
  readonly tag?: string | undefined;
  /** This function is called with each database error that does not end the feed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface PlantFeed {
  /**
   * Returns the plants that were created and deleted after a cursor. The changes of one id are in their
   * original order. Without `after`, returns only the cursor of the end of the feed. A page has at most
   * `limit` changes (1 to 1,000; default: 1,000), and at most 1 MiB of names and tags. `wait` is the maximum
   * number of seconds to wait for a change (0 to 20; default: 0). If a plant was created and deleted after
   * the cursor, the page contains only the deletion. With `tag`, the page contains only the changes of plants
   * with this tag. Even a page without changes may have a new `next`.
   *
   * To copy a store, get a cursor, list the plants, and then read the changes after the cursor. Write each
   * created plant to the copy. If the copy has a plant with this id, replace that plant. Remove each deleted
   * plant from the copy.
   *
   * @throws PlantStoreError `cursorExpired`: empty the copy, and list the plants again.
   * @throws PlantStoreError `notImplemented` on a read replica, or when the feed is off.
   * @throws PlantStoreError `shuttingDown` when the store closes during a wait.
   * @throws PlantStoreError `databaseUnavailable` (even during a wait), `invalidInput` or `overloaded`.
   */
  changes(query: Partial<ListPlantChanges>, options?: CallOptions): Promise<PlantChanges>;

  /**
   * Waits for changes again and again, and yields the pages that `changes` would return. Database errors do
   * not end the generator. Without `after`, the first page contains only the cursor of the end of the feed.
   * An abort of the signal ends a wait immediately, but `return` does not end a wait.
   *
   * @throws PlantStoreError the errors of the method `changes`, except `databaseUnavailable` and
   *   `overloaded`. When the signal is aborted, `follow` throws `signal.reason`.
   */
  follow(options?: FollowOptions): AsyncGenerator<PlantChanges, never>;
}

/** The feed, with additional methods for the store. */
export interface OpenPlantFeed extends PlantFeed {
  /** See `first-change.ts`. */
  cursorBefore(since: Date): Promise<Cursor>;
  /** Queries the database for the changes after a cursor. */
  read: ReadChanges;
  /** Waits until there are changes after a cursor, and returns a page of these changes. */
  pageAfter(cursor: Cursor, limit: number, wait: WaitOptions): Promise<SharedPage>;
  /** Whether the cursor is at the feed's end. Undefined when no follower has waited for changes recently. */
  isAtEnd(cursor: Cursor): boolean | undefined;
  /** Call this method after each change by this process, so that waiting followers get the change sooner. */
  notice(): void;
  /** See `PlantStore.feed`. */
  state(): FeedEnd['state'];
  /** See `PlantStore.watchFeed`. */
  watch(): Promise<void>;
  /** Ends all waits with the error `shuttingDown`. */
  stopWaiting(): void;
}

/** Milliseconds before a follower reads again after an error. */
const retryDelay = 500;

export function createPlantFeed(database: Pick<Database, 'read'>): OpenPlantFeed {
  const read = createChangeReader(database);
  const end = new FeedEnd(read);

  return {
    async changes({ after, tag, limit = maxPageSize, wait = 0 }, options = {}) {
      let cursor = after === undefined ? undefined : parseCursor(after);
      if (!cursor || wait === 0) {
        return withTag(toShared(await read(cursor, limit, options)), tag).output;
      }
      const timeout = AbortSignal.timeout(wait * 1_000);
      try {
        for (;;) {
          timeout.throwIfAborted();
          const waiting = { caller: options.caller, signal: timeout };
          const page = withTag(await pageAfter(cursor, limit, waiting), tag);
          if (page.changes.length > 0) return page.output;
          cursor = page.next;
        }
      } catch (error) {
        if (error !== timeout.reason && !options.caller?.isGone) throw error;
        return { changes: [], next: formatCursor(cursor) };
      }
    },

    follow,
    cursorBefore: (since) => cursorBefore(since, { read: database.read, readChanges: read }),
    read,
    pageAfter,
    isAtEnd: (cursor) => end.kept?.isAtEnd(cursor),
    notice: () => end.notice(),
    state: () => end.state,
    watch: async () => end.lag.measure(await read(undefined, 1)),
    stopWaiting: () => end.close(),
  };

  function follow({
    after,
    tag,
    onError,
    ...wait
  }: FollowOptions = {}): AsyncGenerator<PlantChanges, never> {
    const { signal } = wait;
    let cursor: Cursor | undefined;
    return generate(async () => {
      cursor ??= after === undefined ? undefined : parseCursor(after);
      for (;;) {
        const page = await nextPage(cursor, wait).catch(async (error) => {
          if (!isPassing(error)) throw error;
          onError?.(error);
          await setTimeout(retryDelay, undefined, { signal }).catch(() => {});
        });
        signal?.throwIfAborted();
        if (!page) continue;
        cursor = page.next;
        return withTag(page, tag).output;
      }
    });
  }

  /** Returns the next page. Without a cursor, returns an empty page at the end of the feed. */
  async function nextPage(cursor: Cursor | undefined, wait: WaitOptions): Promise<SharedPage> {
    end.throwIfClosed();
    if (cursor) return pageAfter(cursor, maxPageSize, wait);
    const page = await read(undefined, 1);
    end.reach(page.next, wait);
    return toShared(page);
  }

  /** Waits until there are changes after a cursor. */
  async function pageAfter(cursor: Cursor, limit: number, wait: WaitOptions): Promise<SharedPage> {
    let after = cursor;
    for (;;) {
      const { news, kept } = end;
      if (kept?.covers(after, wait)) {
        const page = kept.after(after, limit);
        if (page) return page;
      } else {
        const page = await read(after, limit, { caller: wait.caller, only: wait.only });
        if (!page.hasMore) end.reach(page.next, wait);
        if (hasNews(page, after, wait)) return toShared(page);
        after = page.next;
      }
      await end.change(news, wait);
    }
  }
}
