import { setTimeout } from 'node:timers/promises';
import type { ListPlantChanges } from '@plant-store/schemas';
import { isTemporary, maxPageSize } from '@plant-store/schemas/plain';
import type { Database } from '../database/database.ts';
import type { Caller, CallOptions } from '../database/deadline.ts';
import { callerDisconnected } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { ChangesText } from '../plants/output-text.ts';
import { type Cursor, formatCursor, lastId, parseCursor } from './cursor.ts';
import { type ChangePage, createChangeReader, type ReadChanges } from './read-changes.ts';
import { Ring } from './ring.ts';
import { forgetDeletions, selectFirstSince } from './statements.ts';

export interface WaitOptions {
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

/** A page with its changes as text. */
type Page = Pick<ChangePage, 'text' | 'next'>;

interface Waiter {
  readonly caller: Caller | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The loop waits for this many milliseconds between two reads, and then as long again for a write. */
const pause = 75;

/** Each follower that gets a page extends the next pause, so that the process has time for requests. */
const pauseForEach = 0.1;
const maxPause = 1_000;

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
  readonly #read: ReadChanges;
  #ring: Ring | undefined;
  readonly #waiters = new Set<Waiter>();
  #lastWait = 0;
  /** This number grows by one whenever the waiting followers are woken. */
  #news = 0;
  #isNoticed = false;
  #wake = () => {};
  /** The transaction that hides changes, and the time since when it does. */
  #heldBack: { by: string; since: number } | undefined;
  #isClosed = false;

  constructor(database: Pick<Database, 'read' | 'write'>) {
    this.#database = database;
    const read = createChangeReader(database);
    this.#read = (...page) =>
      read(...page).catch((error) => {
        throw this.#isClosed ? closing() : error;
      });
  }

  get state(): FeedState {
    const heldBackFor = this.#heldBack ? performance.now() - this.#heldBack.since : 0;
    return { waiting: this.#waiters.size, heldBackFor };
  }

  /** See `PlantStore.changes`. */
  async changes(
    { after, limit = maxPageSize, wait = 0 }: Partial<ListPlantChanges>,
    options: CallOptions = {},
  ): Promise<ChangesText> {
    if (after === undefined) return (await this.end(options)).text;
    const cursor = parseCursor(after);
    if (wait === 0) return (await this.read(cursor, limit, options)).text;
    const signal = AbortSignal.timeout(wait * 1_000);
    try {
      return (await this.pageAfter(cursor, limit, { caller: options.caller, signal })).text;
    } catch (error) {
      if (error !== signal.reason && !options.caller?.isGone) throw error;
      return new ChangesText([], formatCursor(cursor));
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
      try {
        const page: Page = cursor
          ? await this.pageAfter(cursor, maxPageSize, wait)
          : await this.end({ caller: wait.caller });
        cursor = page.next;
        yield page.text;
      } catch (error) {
        if (!isPassing(error)) throw error;
        onError?.(error);
        await setTimeout(retryDelay, undefined, { signal: wait.signal }).catch(() => {});
      }
    }
  }

  /** Returns an empty page at the end of the feed. */
  async end(options: CallOptions = {}): Promise<ChangePage> {
    this.#throwIfClosed();
    const page = await this.#read(undefined, 1, { ...options, kind: 'reads' });
    this.#measure(page);
    return page;
  }

  /** See `PlantStore.watchFeed`. */
  watch = async (): Promise<void> => {
    this.#measure(await this.#read(undefined, 1, { kind: 'reads' }));
  };

  /** Reads the changes after a cursor from the ring, or from the database. */
  async read(cursor: Cursor, limit: number, options: CallOptions = {}): Promise<Page> {
    const kept = this.#ring?.covers(cursor) && this.#ring.after(cursor, limit);
    return kept || this.#read(cursor, limit, { ...options, kind: 'changes' });
  }

  /**
   * Waits until there are changes after a cursor, and returns up to `limit` changes.
   *
   * @throws PlantStoreError `shuttingDown` when the store is closing, and `databaseUnavailable` when the
   *   database is down. When the signal is aborted, throws the signal's reason.
   */
  async pageAfter(cursor: Cursor, limit: number, wait: WaitOptions): Promise<Page> {
    let after = cursor;
    for (;;) {
      const seen = this.#news;
      if (this.#ring?.covers(after)) {
        const page = this.#ring.after(after, limit);
        if (page) return page;
      } else {
        const page = await this.#read(after, limit, { caller: wait.caller, kind: 'changes' });
        if (page.positions.length > 0) return page;
        after = page.next;
        this.#reach(after);
      }
      await this.#change(seen, wait);
    }
  }

  /**
   * Returns a cursor before the first change since a time. The time of a change is `createdAt`, `updatedAt` or
   * the time of the deletion. If nothing has changed since the time, returns the end of the feed.
   */
  async cursorBefore(since: Date): Promise<Cursor> {
    const { next } = await this.end();
    const { rows } = await this.#database.read<[string]>(selectFirstSince, [since.toISOString()], {
      kind: 'changes',
    });
    const firsts = rows.map(([first]) => BigInt(first) - 1n);
    const transaction = firsts.reduce(
      (one, other) => (one < other ? one : other),
      next.transaction,
    );
    return { epoch: next.epoch, transaction, id: lastId };
  }

  /** See `PlantStore.forgetDeletions`. */
  async forgetDeletions(days: number): Promise<number> {
    for (let sum = 0; ; ) {
      const values = [String(days), String(forgetStep)];
      const { rows } = await this.#database.write(forgetDeletions, values, { kind: 'deletes' });
      const count = Number(rows[0]?.[0]);
      sum += count;
      if (count < forgetStep) return sum;
    }
  }

  /** Call this method after each write of this process, so that followers get the change sooner. */
  notice = (): void => {
    this.#isNoticed = true;
    this.#wake();
  };

  /** Ends all waits with the error `shuttingDown`. Later waits end immediately. */
  close = (): void => {
    this.#isClosed = true;
    this.#rejectAll(closing());
    this.#wake();
  };

  /** Starts the loop at the end of the feed, unless the loop runs. */
  #reach(end: Cursor): void {
    this.#lastWait = performance.now();
    if (this.#ring || this.#isClosed) return;
    this.#ring = new Ring(end);
    void this.#run(this.#ring);
  }

  async #run(ring: Ring): Promise<void> {
    let told = 0;
    while (!this.#isClosed && this.#isWanted) {
      await this.#pause(pause + Math.min(maxPause, told * pauseForEach));
      told = 0;
      try {
        const page = await this.#read(ring.end, maxPageSize, { kind: 'reads' });
        this.#measure(page);
        ring.add(page);
        if (page.positions.length > 0) told = this.#tell();
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
    this.#tell();
  }

  get #isWanted(): boolean {
    return this.#waiters.size > 0 || performance.now() - this.#lastWait < linger;
  }

  async #pause(milliseconds: number): Promise<void> {
    const noticed = Promise.withResolvers<void>();
    this.#wake = noticed.resolve;
    await setTimeout(milliseconds);
    if (!this.#isNoticed && !this.#isClosed)
      await Promise.race([setTimeout(pause), noticed.promise]);
    this.#isNoticed = false;
  }

  /** Resolves when there may be further changes. `seen` is an earlier value of `#news`. */
  async #change(seen: number, { signal, caller }: WaitOptions): Promise<void> {
    signal?.throwIfAborted();
    this.#throwIfClosed();
    if (this.#news !== seen) return;
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
  #tell(): number {
    this.#news += 1;
    for (const { resolve } of this.#waiters) resolve();
    return this.#waiters.size;
  }

  #rejectAll(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  #measure({ heldBackBy: by }: Pick<ChangePage, 'heldBackBy'>): void {
    if (by === undefined) this.#heldBack = undefined;
    else if (this.#heldBack?.by !== by) this.#heldBack = { by, since: performance.now() };
  }

  /** @throws PlantStoreError `shuttingDown` */
  #throwIfClosed(): void {
    if (this.#isClosed) throw closing();
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
