import { setTimeout } from 'node:timers/promises';
import type { ListPlantChanges, PlantChanges } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import type { Database } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import type { Caller, CallOptions } from '../database/deadline.ts';
import { type Cursor, formatCursor, parseCursor } from './cursor.ts';
import { FeedEnd, isPassing, type SharedPage } from './feed-end.ts';
import { type ChangePage, createChangeReader } from './read-changes.ts';

/** Where to follow the feed. */
export interface FollowOptions {
  /** The `next` of an earlier page. Default: the present end. */
  readonly after?: string | undefined;
  /** Ends the feed with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlantFeed {
  /**
   * The plants that were created and deleted after a cursor, in an order in which the changes of each id
   * follow one another. Without `after`, no changes: only the cursor of the present end. With `wait`, it
   * waits so many seconds for a change. A plant that was created and deleted since appears as deleted alone.
   *
   * To copy a store, take a cursor, list the plants, and then read the changes behind the cursor. Set a
   * plant that was created, also if the copy has it already, and remove one that was deleted.
   *
   * @throws PlantStoreError `cursorExpired`: list the plants again; `notImplemented` on a Citus cluster and
   *   on a read replica; `invalidInput`, `databaseUnavailable`, `overloaded`; `shuttingDown` while it waits
   */
  changes(query: Partial<ListPlantChanges>, options?: CallOptions): Promise<PlantChanges>;

  /**
   * Yields the pages of `changes` as soon as there are changes, and goes on after errors of the database.
   * Without `after`, the first page has no changes: it is the cursor of the present end.
   *
   * @throws PlantStoreError as `changes`, except `databaseUnavailable` and `overloaded`; the reason of the
   *   signal
   */
  follow(options?: FollowOptions): AsyncGenerator<PlantChanges, never>;
}

/** The feed, as the store itself uses it. */
export interface OpenPlantFeed extends PlantFeed {
  /** Is called after a change by this process, so that those who wait get it sooner. */
  notice(): void;
  /** See `PlantStore.feed`. */
  state(): FeedEnd['state'];
  /** Ends all waits with `shuttingDown`. */
  stopWaiting(): void;
}

/** Milliseconds before a follower reads again after an error. */
const retryDelay = 500;

export function createPlantFeed(database: Pick<Database, 'run' | 'copyId'>): OpenPlantFeed {
  const readNow = createChangeReader(database);
  const read: typeof readNow = (...query) => orUnavailable(readNow(...query));
  const end = new FeedEnd(read);

  return {
    async changes({ after, limit = maxPageSize, wait = 0 }, options = {}) {
      const cursor = after === undefined ? undefined : parseCursor(after);
      if (!cursor || wait === 0) return outputOf(await read(cursor, limit, options));
      const timeout = AbortSignal.timeout(wait * 1_000);
      try {
        return (await pageAfter(cursor, limit, options.caller, timeout)).output;
      } catch (error) {
        if (error !== timeout.reason && !options.caller?.isGone) throw error;
        return { changes: [], next: formatCursor(cursor) };
      }
    },

    async *follow({ after, signal } = {}) {
      let cursor = after === undefined ? undefined : parseCursor(after);
      for (;;) {
        const page = await nextPage(cursor, signal).catch(async (error) => {
          if (!isPassing(error)) throw error;
          await setTimeout(retryDelay, undefined, { signal }).catch(() => {});
        });
        signal?.throwIfAborted();
        if (!page) continue;
        yield page.output;
        cursor = page.next;
      }
    },

    notice: () => end.notice(),
    state: () => end.state,
    stopWaiting: () => end.close(),
  };

  /** Without a cursor, the present end. */
  async function nextPage(cursor: Cursor | undefined, signal?: AbortSignal): Promise<SharedPage> {
    end.throwIfClosed();
    if (cursor) return pageAfter(cursor, maxPageSize, undefined, signal);
    const page = await read(undefined, 1);
    return { next: page.next, output: outputOf(page) };
  }

  /** Waits until there are changes behind a cursor. */
  async function pageAfter(
    cursor: Cursor,
    limit: number,
    caller?: Caller,
    signal?: AbortSignal,
  ): Promise<SharedPage> {
    let after = cursor;
    for (;;) {
      const { news } = end;
      if (end.covers(after)) {
        const page = end.pageAfter(after, limit);
        if (page) return page;
      } else {
        const page = await read(after, limit, { caller });
        after = page.next;
        if (page.changes.length > 0) return { next: page.next, output: outputOf(page) };
        end.start(after);
      }
      await end.change(news, signal, caller);
    }
  }
}

function outputOf({ changes, next }: ChangePage): PlantChanges {
  return { changes: [...changes], next: formatCursor(next) };
}
