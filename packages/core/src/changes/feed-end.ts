import { setTimeout } from 'node:timers/promises';
import type { PlantChange, PlantChanges } from '@plant-store/schemas';
import type { Caller } from '../database/deadline.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { contentLength } from '../plants/columns.ts';
import { type Cursor, formatCursor, isBehind, type Position } from './cursor.ts';
import type { ChangePage, ReadChanges } from './read-changes.ts';

/** A page of changes in memory. All who wait get the same object, so that it is written as JSON once. */
export interface SharedPage extends Pick<ChangePage, 'positions'> {
  readonly next: Cursor;
  readonly output: PlantChanges;
}

interface KeptPage extends SharedPage {
  /** Characters in memory, about. */
  readonly length: number;
}

/** How somebody waits for a change. */
export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
  /** Is called with each error of the database after which the wait goes on. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Who waits for a change. */
interface Waiter extends Omit<WaitOptions, 'signal'> {
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

/** Milliseconds to add for each who got a page, and their limit. So most of the time is left for requests. */
const restForEach = 0.1;
const maxRest = 1_000;

/** Milliseconds without anybody who waits, after which the reads end. */
const linger = 2_000;

/** The most changes in a read. */
const maxChanges = 1_000;

/** The most characters of pages in memory, and those of a change without its name and tag. */
const maxLength = 2 ** 22;
const lengthOfChange = 100;

/**
 * The end of the feed, which one loop reads for all who wait in this process. It keeps the last pages, so
 * that nobody reads from the database what another has just read.
 */
export class FeedEnd {
  readonly #read: ReadChanges;
  #pages: KeptPage[] = [];
  /** Where the kept pages begin. Undefined while the loop does not run. */
  #start: Cursor | undefined;
  /** The furthest cursor that a read has returned. */
  #known: Cursor | undefined;
  /** How often those who wait were woken. */
  #news = 0;
  readonly #waiters = new Set<Waiter>();
  #lastWaitAt = 0;
  #isNoticed = false;
  #wake = () => {};
  #heldBackSince: number | undefined;
  #isClosed = false;

  constructor(read: ReadChanges) {
    this.#read = read;
  }

  /** How many wait, and the milliseconds for which a transaction has hidden changes from them. */
  get state(): { waiting: number; heldBackFor: number } {
    const since = this.#heldBackSince;
    return {
      waiting: this.#waiters.size,
      heldBackFor: since === undefined ? 0 : performance.now() - since,
    };
  }

  /** A number for `change`, to take before a look for changes. */
  get news(): number {
    return this.#news;
  }

  /** @throws PlantStoreError `shuttingDown` once the store is closing */
  throwIfClosed(): void {
    if (this.#isClosed) throw closing();
  }

  /** Is called with the present end that a read has returned. Begins to read behind it, unless the loop runs. */
  reach(cursor: Cursor): void {
    this.#learn(cursor);
    if (this.#start || this.#isClosed) return;
    this.#start = cursor;
    this.#lastWaitAt = performance.now();
    void this.#run(cursor);
  }

  /**
   * Whether the changes behind a cursor are kept, or will be. Only the database knows whether a cursor
   * that no read has returned is good.
   */
  covers(cursor: Cursor): boolean {
    if (this.#start?.epoch !== cursor.epoch || !this.#known) return false;
    return !isBehind(this.#start, cursor) && !isBehind(cursor, this.#known);
  }

  /** The kept changes behind a cursor, at most so many; undefined when there are none yet. */
  pageAfter(cursor: Cursor, limit: number): SharedPage | undefined {
    const isAfterCursor = (position: Position) => isBehind(position, cursor);
    const page = this.#pages.find(({ positions }) => isAfterCursor(positions.at(-1) ?? cursor));
    if (!page) return undefined;
    const { changes } = page.output;
    const from = page.positions.findIndex(isAfterCursor);
    if (from === 0 && changes.length <= limit) return page;
    const part = changes.slice(from, from + limit);
    const positions = page.positions.slice(from, from + limit);
    const last = positions.at(-1);
    const isCut = from + part.length < changes.length;
    const next = isCut && last ? { ...last, epoch: cursor.epoch } : page.next;
    return { next, positions, output: { changes: part, next: formatCursor(next) } };
  }

  /**
   * Resolves when there may be further changes since `news` was `seen`.
   *
   * @throws PlantStoreError `shuttingDown` once the store is closing; the reason of the signal
   */
  async change(seen: number, { signal, ...options }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.throwIfClosed();
    this.#lastWaitAt = performance.now();
    if (this.#news !== seen) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { ...options, resolve, reject };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
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
    for (const waiter of this.#waiters) waiter.reject(closing());
    this.#wake();
  }

  async #run(start: Cursor): Promise<void> {
    let end = start;
    let pause = usualPause;
    while (!this.#isClosed && this.#isWatched) {
      await this.#pause(pause);
      try {
        const page = await this.#read(end, maxChanges);
        this.#watchOthers(page, end);
        end = page.next;
        this.#learn(end); // Before those who wait get the page and go on behind it.
        const told = page.changes.length > 0 ? this.#keep(page) : 0;
        const rest = Math.min(maxRest, restForEach * told);
        const { least, more } = page.hasMore ? noPause : usualPause;
        pause = { least: least + rest, more };
      } catch (error) {
        if (!isPassing(error)) break;
        for (const { onError } of this.#waiters) onError?.(error);
        pause = pauseAfterError;
      }
      for (const { caller, reject } of this.#waiters) if (caller?.isGone) reject(disconnected());
    }
    this.#pages = [];
    this.#start = undefined;
    this.#known = undefined;
    this.#heldBackSince = undefined;
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

  /** Keeps a page, and returns how many got it. */
  #keep({ changes, positions, next }: ChangePage): number {
    const lengthOf = ({ plant }: PlantChange) => lengthOfChange + contentLength(plant);
    const length = changes.reduce((sum, change) => sum + lengthOf(change), 0);
    const output = { changes: [...changes], next: formatCursor(next) };
    this.#pages.push({ positions, next, output, length });
    let total = this.#pages.reduce((sum, page) => sum + page.length, 0);
    while (total > maxLength && this.#pages.length > 1) {
      const dropped = this.#pages.shift();
      total -= dropped?.length ?? 0;
      this.#start = dropped?.next ?? this.#start;
    }
    return this.#tell();
  }

  #learn(cursor: Cursor): void {
    const known = this.#known;
    const isFurther = known?.epoch === cursor.epoch && isBehind(cursor, known);
    if (!known || isFurther) this.#known = cursor;
  }

  /** Wakes all who wait, and returns how many they are. */
  #tell(): number {
    this.#news += 1;
    for (const waiter of this.#waiters) waiter.resolve();
    return this.#waiters.size;
  }

  /** Notes since when a transaction of others has hidden changes. */
  #watchOthers({ isHeldBack, next }: ChangePage, end: Cursor): void {
    if (!isHeldBack) this.#heldBackSince = undefined;
    else if (next.transaction !== end.transaction) this.#heldBackSince = performance.now();
    else this.#heldBackSince ??= performance.now();
  }
}

/** Whether the feed goes on after an error: the database is down, or too many lists wait. */
export function isPassing(error: unknown): boolean {
  const passing = ['databaseUnavailable', 'overloaded'];
  return error instanceof PlantStoreError && passing.includes(error.kind);
}

/** The error for a caller that has disconnected. Nobody reads it. */
function disconnected(): Error {
  return new Error('the caller has disconnected');
}

function closing(): PlantStoreError {
  const message = 'the store is closing: go on with another instance';
  return new PlantStoreError('shuttingDown', message);
}
