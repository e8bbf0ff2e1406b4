import { setTimeout } from 'node:timers/promises';
import { isTemporary, type ListPlantChanges, maxPageSize } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { Caller, CallOptions } from '../database/deadline.ts';
import { callerDisconnected } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { type Cursor, lastId, parseCursor } from './cursor.ts';
import { ChangesText, readChanges } from './read-changes.ts';
import { Ring } from './ring.ts';
import { forgetDeletions, selectFirstSince } from './statements.ts';

interface WaitOptions {
  /** When this signal is aborted, the wait or the feed throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
}

export interface FollowOptions extends WaitOptions {
  /** The cursor after which `follow` begins: the `next` of a page. Default: the end of the feed. */
  readonly after?: string | undefined;
  /** This function is called with each database error that does not end the feed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface FeedState {
  /** The number of waiting followers. */
  readonly waiting: number;
  /** How long a running transaction has hidden changes, in milliseconds. */
  readonly heldBackFor: number;
}

interface Waiter {
  readonly caller: Caller | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The loop pauses for this many milliseconds between two reads, and then waits as long for a write. */
const pause = 75;

/** Each follower that gets a page extends the next pause, so that the process has time for requests. */
const pauseForEach = 0.1;

/** Milliseconds before the next read after an error. */
const retryDelay = 500;

/** The loop continues for this many milliseconds after the last wait of a follower. */
const linger = 2_000;

/** The maximum number of deletions that one statement forgets. */
const forgetStep = 1_000;

/**
 * The feed of changes. While followers wait, one loop reads the end of the feed for all followers of this
 * process, and keeps the last pages in a ring. The writes of this process wake the loop.
 */
export class Feed {
  readonly #database: Pick<Database, 'read' | 'write'>;
  /** Undefined while the loop does not run. */
  #ring: Ring | undefined;
  readonly #waiters = new Set<Waiter>();
  #lastWait = 0;
  /** Is resolved by the next write of this process. */
  #written = Promise.withResolvers<void>();
  /** The transaction that hides changes, and the time since which it hides them. */
  #heldBack: { by: string; since: number } | undefined;
  #isClosed = false;

  constructor(database: Pick<Database, 'read' | 'write'>) {
    this.#database = database;
  }

  get state(): FeedState {
    const heldBackFor = this.#heldBack ? performance.now() - this.#heldBack.since : 0;
    return { waiting: this.#waiters.size, heldBackFor };
  }

  /** See `PlantStore.changes`. */
  async changes(
    { after, limit = maxPageSize, wait = 0 }: Partial<ListPlantChanges>,
    { deadline, caller }: CallOptions = {},
  ): Promise<ChangesText> {
    if (after === undefined) return this.end({ deadline, caller });
    const cursor = parseCursor(after);
    if (wait === 0) return this.read(cursor, limit, { deadline, caller });
    const signal = AbortSignal.timeout(wait * 1_000);
    try {
      return await this.pageAfter(cursor, limit, { caller, signal });
    } catch (error) {
      if (error !== signal.reason && !caller?.isGone) throw error;
      return new ChangesText([], cursor);
    }
  }

  /** See `PlantStore.follow`. */
  async *follow({
    after,
    onError,
    ...wait
  }: FollowOptions = {}): AsyncGenerator<ChangesText, never> {
    let cursor = after === undefined ? undefined : parseCursor(after);
    for (;;) {
      wait.signal?.throwIfAborted();
      if (this.#isClosed) throw closing();
      try {
        const page: ChangesText = cursor
          ? await this.pageAfter(cursor, maxPageSize, wait)
          : await this.end({ caller: wait.caller });
        cursor = page.end;
        yield page;
      } catch (error) {
        if (!isPassing(error)) throw error;
        onError?.(error);
        await setTimeout(retryDelay, undefined, { signal: wait.signal }).catch(() => {});
      }
    }
  }

  /** Returns an empty page at the end of the feed. */
  end(options?: CallOptions): Promise<ChangesText> {
    return this.#readNewest(undefined, options);
  }

  /** Reads the changes after a cursor from the ring, or from the database. */
  async read(cursor: Cursor, limit: number, options: CallOptions = {}): Promise<ChangesText> {
    const kept = this.#ring?.after(cursor, limit);
    if (kept && kept.changes.length > 0) return kept;
    const call = { ...options, kind: 'changes' } as const;
    const reading = readChanges(this.#database, cursor, limit, call).catch((error) => {
      throw this.#isClosed ? closing() : error;
    });
    return (await reading).page;
  }

  /**
   * Waits until there are changes after a cursor, and returns up to `limit` changes.
   *
   * @throws PlantStoreError `shuttingDown` when the store is closing, and `databaseUnavailable` when the
   *   database is down. When the signal is aborted, throws the signal's reason.
   */
  async pageAfter(cursor: Cursor, limit: number, wait: WaitOptions): Promise<ChangesText> {
    let after = cursor;
    for (;;) {
      if (!this.#ring?.after(after, limit)) {
        const page = await this.read(after, limit, { caller: wait.caller });
        if (page.changes.length > 0) return page;
        after = page.end;
        this.#startAt(after);
      }
      // The ring may have got further changes during the read.
      const page = this.#ring?.after(after, limit);
      if (page && page.changes.length > 0) return page;
      await this.#news(wait);
    }
  }

  /**
   * Returns a cursor before the first change since a time. The time of a change is `createdAt`, `updatedAt` or
   * the time of the deletion. If nothing has changed since the time, returns the end of the feed.
   */
  async cursorBefore(since: Date): Promise<Cursor> {
    const { end } = await this.end();
    const { rows } = await this.#database.read<[string]>(selectFirstSince, [since.toISOString()], {
      kind: 'changes',
    });
    let { transaction } = end;
    for (const [first] of rows) {
      if (BigInt(first) <= transaction) transaction = BigInt(first) - 1n;
    }
    return { epoch: end.epoch, transaction, id: lastId };
  }

  /** See `PlantStore.forgetDeletions`. */
  async forgetDeletions(days: number): Promise<number> {
    for (let sum = 0; ; ) {
      const values = [String(days), String(forgetStep)];
      const { rows } = await this.#database.write(forgetDeletions, values, { kind: 'edits' });
      const count = Number(rows[0]?.[0]);
      sum += count;
      if (count < forgetStep) return sum;
    }
  }

  /** Call this method after each write of this process, so that followers get the change sooner. */
  notice = (): void => this.#written.resolve();

  /** Ends all waits with the error `shuttingDown`. Later waits end immediately. */
  close = (): void => {
    this.#isClosed = true;
    this.#rejectAll(closing());
    this.notice();
  };

  /** Starts the loop at the end of the feed, unless the loop runs. */
  #startAt(end: Cursor): void {
    this.#lastWait = performance.now();
    if (this.#ring || this.#isClosed) return;
    this.#ring = new Ring(end);
    void this.#run(this.#ring);
  }

  async #run(ring: Ring): Promise<void> {
    for (let told = 0; this.#isWanted; ) {
      await setTimeout(pause + told * pauseForEach);
      await Promise.race([setTimeout(pause), this.#written.promise]);
      this.#written = Promise.withResolvers();
      try {
        const page = await this.#readNewest(ring.end);
        ring.add(page);
        told = page.changes.length > 0 ? this.#wakeAll() : 0;
      } catch (error) {
        if (!isPassing(error)) break;
        this.#rejectAll(error);
        await setTimeout(retryDelay);
      }
      for (const { caller, reject } of this.#waiters) {
        if (caller?.isGone) reject(callerDisconnected());
      }
    }
    this.#ring = undefined;
    // Each waiting follower now reads from its own cursor, and gets the error of this read.
    this.#wakeAll();
  }

  get #isWanted(): boolean {
    if (this.#isClosed) return false;
    return this.#waiters.size > 0 || performance.now() - this.#lastWait < linger;
  }

  /** Waits until the ring may have further changes. */
  async #news({ signal, caller }: WaitOptions): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closing();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { caller, resolve, reject };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      this.#lastWait = performance.now();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Wakes all waiting followers, and returns their number. */
  #wakeAll(): number {
    for (const { resolve } of this.#waiters) resolve();
    return this.#waiters.size;
  }

  #rejectAll(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  /** Reads changes at the end of the feed, and notes whether a transaction hides changes. */
  async #readNewest(after?: Cursor, options?: CallOptions): Promise<ChangesText> {
    const call = { ...options, kind: 'reads' } as const;
    const { page, heldBackBy: by } = await readChanges(this.#database, after, maxPageSize, call);
    if (by === undefined) this.#heldBack = undefined;
    else if (this.#heldBack?.by !== by) this.#heldBack = { by, since: performance.now() };
    return page;
  }
}

/** Whether a follower continues after an error, for example when the database is down or overloaded. */
export function isPassing(error: unknown): error is PlantStoreError {
  if (!(error instanceof PlantStoreError)) return false;
  // After `shuttingDown`, a follower must use another instance.
  return isTemporary(error.kind) && error.kind !== 'shuttingDown';
}

const closing = () =>
  new PlantStoreError('shuttingDown', 'the store is closing: use another instance');
