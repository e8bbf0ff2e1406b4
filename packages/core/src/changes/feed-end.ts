import { setTimeout } from 'node:timers/promises';
import { isTemporary } from '@plant-store/schemas/plain';
import type { Caller } from '../database/deadline.ts';
import { callerDisconnected } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { Cursor } from './cursor.ts';
import { FeedLag, type LagState } from './feed-lag.ts';
import { type Pause, pauseAfter, pauseAfterError, usualPause } from './feed-pause.ts';
import { hasNews, KeptPages } from './kept-pages.ts';
import type { ReadChanges, Wanted } from './read-changes.ts';

export interface WaitOptions extends Wanted {
  /** When this signal is aborted, the wait or the feed throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
}

export interface FeedState extends LagState {
  /** The number of waiting followers. */
  readonly waiting: number;
}

interface Waiter extends Pick<WaitOptions, 'caller' | 'only'> {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The loop continues for this many milliseconds after the last wait of a follower. */
const linger = 2_000;

const maxChanges = 1_000;

/**
 * One loop that reads the end of the feed for all waiting followers of this process. The loop keeps the last
 * pages in memory, so that followers do not query the database for these pages.
 */
export class FeedEnd {
  readonly #read: ReadChanges;
  #kept: KeptPages | undefined;
  /** This number grows by one whenever the waiting followers are woken. */
  #news = 0;
  readonly #waiters = new Set<Waiter>();
  /** The time of the last wait for each type of changes. The key `undefined` stands for all types. */
  readonly #lastWaits = new Map<Wanted['only'], number>();
  #isNoticed = false;
  #wake = () => {};
  readonly lag = new FeedLag();
  /** The error of the last read, while the database is down. */
  #outage: PlantStoreError | undefined;
  #isClosed = false;

  constructor(read: ReadChanges) {
    this.#read = read;
  }

  get state(): FeedState {
    return { waiting: this.#waiters.size, ...this.lag.state };
  }

  /** Read `news`, and then look for changes. If there are no changes, pass the value to `change`. */
  get news(): number {
    return this.#news;
  }

  /** @throws PlantStoreError `shuttingDown` when the store is closing */
  throwIfClosed(): void {
    if (this.#isClosed) throw closing();
  }

  /** The last pages, or undefined when the loop does not run. */
  get kept() {
    return this.#kept;
  }

  /** Call this method with the cursor of a read that has reached the feed's end. Starts a stopped loop. */
  reach(cursor: Cursor, { only }: Wanted): void {
    this.#kept?.learn(cursor);
    if (this.#kept || this.#isClosed) return;
    this.#kept = new KeptPages(cursor, { only });
    this.#lastWaits.set(only, performance.now());
    void this.#run(this.#kept, cursor);
  }

  /**
   * Resolves when there may be further changes. `seen` is an earlier value of `news`.
   *
   * @throws PlantStoreError `shuttingDown` when the store is closing, and `databaseUnavailable` when the
   *   database is down. When the signal is aborted, `change` throws the signal's reason.
   */
  async change(seen: number, { signal, caller, only }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.throwIfClosed();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#outage) reject(this.#outage);
    if (this.#news !== seen) resolve();
    const waiter = { caller, only, resolve, reject };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      this.#lastWaits.set(only, performance.now());
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Call this method after each change by this process. */
  notice(): void {
    this.#isNoticed = true;
    this.#wake();
  }

  /** Ends all waits. Call this method before the store closes. */
  close(): void {
    this.#isClosed = true;
    this.#endWaits(closing());
    this.#wake();
  }

  async #run(start: KeptPages, after: Cursor): Promise<void> {
    let [kept, end] = [start, after];
    let pause = usualPause;
    while (!this.#isClosed && this.#wanted.size > 0) {
      await this.#pause(pause);
      try {
        const [only, ...others] = this.#wanted;
        const wanted = { only: others.length > 0 ? undefined : only };
        if (kept.only !== wanted.only) this.#kept = kept = new KeptPages(end, wanted);
        const page = await this.#read(end, maxChanges, wanted);
        this.#outage = undefined;
        this.lag.measure(page);
        const isNews = hasNews(page, end, wanted);
        end = page.next;
        // A follower that wakes continues after `end`, so `kept` must know `end` first.
        kept.learn(end);
        if (isNews) kept.add(page);
        const told = isNews ? this.#tell() : 0;
        pause = pauseAfter(page, isNews, told);
      } catch (error) {
        if (!isPassing(error)) break;
        if (error.kind === 'databaseUnavailable') this.#outage = error;
        if (this.#outage) this.#endWaits(this.#outage);
        pause = pauseAfterError;
      }
      for (const { caller, reject } of this.#waiters)
        if (caller?.isGone) reject(callerDisconnected());
    }
    this.#kept = undefined;
    this.#outage = undefined;
    // Each waiting follower now reads the feed from its own cursor, and throws the error of this read.
    this.#tell();
  }

  /** The types of changes for which followers wait or recently waited. `undefined` stands for all types. */
  get #wanted(): Set<Wanted['only']> {
    const wanted = new Set<Wanted['only']>();
    for (const { only } of this.#waiters) wanted.add(only);
    for (const [only, at] of this.#lastWaits) {
      if (performance.now() - at < linger) wanted.add(only);
    }
    return wanted;
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

  /** Wakes all waiting followers, and returns their number. */
  #tell(): number {
    this.#news += 1;
    for (const waiter of this.#waiters) waiter.resolve();
    return this.#waiters.size;
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
