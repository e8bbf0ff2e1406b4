import { setTimeout } from 'node:timers/promises';
import { isTemporary } from '@plant-store/schemas/plain';
import type { Caller } from '../database/deadline.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { Cursor } from './cursor.ts';
import { KeptPages } from './kept-pages.ts';
import type { ChangePage, ReadChanges } from './read-changes.ts';

/** How somebody waits for a change. */
export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
}

/** A follower that waits for a change. */
interface Waiter extends Pick<WaitOptions, 'caller'> {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Milliseconds between two reads: at least, and how many more until this process makes a change. So changes
 * of other instances are seen, too.
 */
interface Pause {
  readonly least: number;
  readonly more: number;
}

const usualPause: Pause = { least: 75, more: 75 };
const pauseAfterError: Pause = { least: 75, more: 425 };
const noPause: Pause = { least: 0, more: 0 };

/** Milliseconds to add for each follower that got a page, and their limit. Most of the time is left for requests. */
const restForEach = 0.1;
const maxRest = 1_000;

/** Milliseconds without a waiting follower, after which the reads end. */
const linger = 2_000;

/** The most changes in a read. */
const maxChanges = 1_000;

/**
 * The end of the feed, which one loop reads for all followers that wait in this process. It keeps the pages, so that
 * nobody reads them again.
 */
export class FeedEnd {
  readonly #read: ReadChanges;
  #kept: KeptPages | undefined;
  /** How often the waiting followers were woken. */
  #news = 0;
  readonly #waiters = new Set<Waiter>();
  #lastWaitAt = 0;
  #isNoticed = false;
  #wake = () => {};
  /** The transaction that hides changes, and when it began to. */
  #heldBack: { by: bigint; since: number } | undefined;
  /** The error of the last read, while the database is down. */
  #outage: PlantStoreError | undefined;
  #isClosed = false;

  constructor(read: ReadChanges) {
    this.#read = read;
  }

  /** How many wait, and the milliseconds for which a transaction has hidden changes. */
  get state(): { waiting: number; heldBackFor: number } {
    const now = performance.now();
    const { since = now } = this.#heldBack ?? {};
    return { waiting: this.#waiters.size, heldBackFor: now - since };
  }

  /** Notes when a transaction began to hide changes. Is called with each page of the end. */
  measure({ heldBackBy: by }: ChangePage): void {
    if (by === undefined) this.#heldBack = undefined;
    else if (this.#heldBack?.by !== by) this.#heldBack = { by, since: performance.now() };
  }

  /** A number for `change`, to take before a look for changes. */
  get news(): number {
    return this.#news;
  }

  /** @throws PlantStoreError `shuttingDown` once the store is closing */
  throwIfClosed(): void {
    if (this.#isClosed) throw closing();
  }

  /** The last pages; undefined while the loop does not run. */
  get kept(): KeptPages | undefined {
    return this.#kept;
  }

  /** Is called with the end of the feed that a read has returned. Begins to read behind it, unless the loop runs. */
  reach(cursor: Cursor): void {
    this.#kept?.learn(cursor);
    if (this.#kept || this.#isClosed) return;
    this.#kept = new KeptPages(cursor);
    this.#lastWaitAt = performance.now();
    void this.#run(this.#kept, cursor);
  }

  /**
   * Resolves when there may be further changes since `news` was `seen`.
   *
   * @throws PlantStoreError `shuttingDown` once the store is closing, `databaseUnavailable` while the reads fail;
   *   the reason of the signal
   */
  async change(seen: number, { signal, caller }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.throwIfClosed();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#outage) reject(this.#outage);
    if (this.#news !== seen) resolve();
    const waiter = { caller, resolve, reject };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      this.#lastWaitAt = performance.now();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Is called after a change by this process. */
  notice(): void {
    this.#isNoticed = true;
    this.#wake();
  }

  /** Ends the waits, before the store closes. */
  close(): void {
    this.#isClosed = true;
    this.#endWaits(closing());
    this.#wake();
  }

  async #run(kept: KeptPages, start: Cursor): Promise<void> {
    let end = start;
    let pause = usualPause;
    while (!this.#isClosed && this.#isWatched) {
      await this.#pause(pause);
      try {
        const page = await this.#read(end, maxChanges);
        this.#outage = undefined;
        this.measure(page);
        end = page.next;
        kept.learn(end); // Before the waiting followers get the page and go on behind it.
        if (page.changes.length > 0) kept.add(page);
        const told = page.changes.length > 0 ? this.#tell() : 0;
        const rest = Math.min(maxRest, restForEach * told);
        const { least, more } = page.hasMore ? noPause : usualPause;
        pause = { least: least + rest, more };
      } catch (error) {
        if (!isPassing(error)) break;
        if (error.kind === 'databaseUnavailable') this.#outage = error;
        if (this.#outage) this.#endWaits(this.#outage);
        pause = pauseAfterError;
      }
      for (const { caller, reject } of this.#waiters) if (caller?.isGone) reject(disconnected());
    }
    this.#kept = undefined;
    this.#outage = undefined;
    this.#tell(); // Those who wait read for themselves, and get an error of their own cursor.
  }

  get #isWatched(): boolean {
    return this.#waiters.size > 0 || performance.now() - this.#lastWaitAt < linger;
  }

  async #pause({ least, more }: Pause): Promise<void> {
    const noticed = Promise.withResolvers<void>();
    this.#wake = noticed.resolve;
    if (this.#isNoticed || this.#isClosed) this.#wake();
    await setTimeout(least);
    await Promise.race([setTimeout(more), noticed.promise]);
    this.#isNoticed = false;
  }

  #endWaits(error: PlantStoreError): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  /** Wakes all who wait, and returns how many they are. */
  #tell(): number {
    this.#news += 1;
    for (const waiter of this.#waiters) waiter.resolve();
    return this.#waiters.size;
  }
}

/** Whether the feed goes on after an error: the database is down, or too many lists wait. */
export function isPassing(error: unknown): error is PlantStoreError {
  if (!(error instanceof PlantStoreError)) return false;
  return isTemporary(error.kind) && error.kind !== 'shuttingDown'; // Only another instance goes on then.
}

/** The error for a caller that has disconnected. Nobody reads it. */
function disconnected(): Error {
  return new Error('the caller has disconnected');
}

function closing(): PlantStoreError {
  const message = 'the store is closing: go on with another instance';
  return new PlantStoreError('shuttingDown', message);
}
