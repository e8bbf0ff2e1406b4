import { setTimeout } from 'node:timers/promises';
import { type ListPlantChanges, maxPageSize } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { closing } from '../database/errors.ts';
import { type Cursor, lastId, parseCursor } from './cursor.ts';
import { ChangesText, readChanges } from './read-changes.ts';
import { forgetDeletions, selectFirstSince } from './statements.ts';
import { isPassing, retryDelay, Tail, type WaitOptions } from './tail.ts';

export interface FollowOptions extends WaitOptions {
  /** The cursor after which `follow` begins: the `next` of a page. Default: the end of the feed. */
  readonly after?: string | undefined;
}

/** The maximum number of deletions that one statement forgets: see `forgetDeletions`. */
const forgetStep = 1_000;

/** The feed of changes. A follower reads the newest changes from memory, and others from the database. */
export class Feed {
  readonly #database: Pick<Database, 'read' | 'write'>;
  readonly #tail = new Tail((after) => this.#readDatabase(after, maxPageSize, 'reads'));
  /** The running transaction that hides changes, and when a read first found it: see `selectChanges`. */
  #heldBack: { by: string; since: number } | undefined;

  constructor(database: Pick<Database, 'read' | 'write'>) {
    this.#database = database;
  }

  /** Yields the pages after a cursor, and waits for further changes. */
  async *follow({ after, ...wait }: FollowOptions = {}): AsyncGenerator<ChangesText, never> {
    let cursor = after === undefined ? undefined : parseCursor(after);
    for (;;) {
      wait.signal?.throwIfAborted();
      if (this.#tail.isClosed) throw closing();
      try {
        const page: ChangesText = cursor
          ? await this.waitForChanges(cursor, maxPageSize, wait)
          : await this.readEnd({ caller: wait.caller });
        cursor = page.end;
        yield page;
      } catch (error) {
        // The error of a disconnected client is passing, too. The signal then ends the loop.
        if (!isPassing(error)) throw error;
        await setTimeout(retryDelay, undefined, { signal: wait.signal }).catch(() => {});
      }
    }
  }

  /** See `PlantStore.changes`. */
  async changes(
    { after, limit, wait }: ListPlantChanges,
    { deadline, caller }: CallOptions = {},
  ): Promise<ChangesText> {
    if (after === undefined) return this.readEnd({ deadline, caller });
    const cursor = parseCursor(after);
    if (wait === 0) return this.read(cursor, limit, { deadline, caller });
    const signal = AbortSignal.timeout(wait * 1_000);
    try {
      return await this.waitForChanges(cursor, limit, { caller, signal });
    } catch (error) {
      const isOver = error === signal.reason || caller?.isGone || this.#tail.isClosed;
      if (!isOver) throw error;
      return new ChangesText([], cursor);
    }
  }

  /** Returns up to `limit` changes after a cursor. The page is empty at the end of the feed. */
  async read(cursor: Cursor, limit: number, options?: CallOptions): Promise<ChangesText> {
    const page = this.#tail.after(cursor, limit);
    if (page && page.changes.length > 0) return page;
    // The database may have changes that the tail has not read yet.
    return this.#readDatabase(cursor, limit, 'changes', options);
  }

  /**
   * Waits until there are changes after a cursor, and returns up to `limit` changes.
   *
   * @throws PlantStoreError `shuttingDown` when the store is closing, or the error of a read. When the signal
   *   is aborted, throws the signal's reason.
   */
  async waitForChanges(cursor: Cursor, limit: number, wait: WaitOptions): Promise<ChangesText> {
    for (let end = cursor; ; ) {
      // Outside of the tail, the page is undefined. At its end, the page is empty, and `news` waits for the next.
      const page =
        this.#tail.after(end, limit) ?? (await this.read(end, limit, { caller: wait.caller }));
      if (page.changes.length > 0) return page;
      end = page.end;
      await this.#tail.news(end, wait);
    }
  }

  /** Returns an empty page, whose cursor is the end of the feed. */
  readEnd(options?: CallOptions): Promise<ChangesText> {
    return this.#readDatabase(undefined, maxPageSize, 'reads', options);
  }

  /** Reads changes from the database, and notes whether a transaction hides changes. */
  async #readDatabase(
    after: Cursor | undefined,
    limit: number,
    kind: 'reads' | 'changes',
    options?: CallOptions,
  ): Promise<ChangesText> {
    const read = readChanges(this.#database, after, limit, { ...options, kind });
    const { page, heldBackBy: by } = await read;
    if (by === undefined) this.#heldBack = undefined;
    else if (this.#heldBack?.by !== by) this.#heldBack = { by, since: performance.now() };
    return page;
  }

  /** The number of milliseconds for which a running transaction has hidden changes. */
  get heldBackFor(): number {
    return this.#heldBack ? performance.now() - this.#heldBack.since : 0;
  }

  /**
   * Returns a cursor before the first change since a time. The time of a change is `createdAt`, `updatedAt`
   * or the time of the deletion. Without such a change, returns the end of the feed.
   */
  async cursorBefore(since: Date): Promise<Cursor> {
    const { end } = await this.readEnd();
    const { rows } = await this.#database.read<[string]>(selectFirstSince, [since.toISOString()], {
      kind: 'changes',
    });
    let { transaction } = end;
    for (const [first] of rows) {
      if (BigInt(first) <= transaction) transaction = BigInt(first) - 1n;
    }
    return { epoch: end.epoch, transaction, id: lastId };
  }

  /** Forgets the deletions that are older than `days`, and returns the number of these deletions. */
  async forgetDeletions(days: number): Promise<number> {
    for (let sum = 0; ; ) {
      const values = [String(days), String(forgetStep)];
      const { rows } = await this.#database.write(forgetDeletions, values, { kind: 'edits' });
      const count = Number(rows[0]?.[0]);
      sum += count;
      if (count < forgetStep) return sum;
    }
  }

  /** Call this function after each write of this process, so that followers get the change sooner. */
  readonly notice = this.#tail.notice;

  /** Ends all waits. Then `follow` throws `shuttingDown`, and `changes` no longer waits for changes. */
  close = (): void => this.#tail.close();
}
