import { setTimeout } from 'node:timers/promises';
import type { PlantChanges } from '@plant-store/schemas';
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
  /** Characters of names and tags. */
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

/** Milliseconds between two reads, so that changes of other instances are seen. */
const interval = 150;

/** Milliseconds between two reads after changes of this process. */
const shortInterval = 25;

/**
 * Milliseconds of CPU time to send a page, and each change of it, to one who waits. After a page, the next
 * read waits `restFactor` times as long as the page took, so most of the time is left for requests.
 */
const costOfPage = 0.04;
const costOfChange = 0.000_05;
const restFactor = 4;

/** The most milliseconds of such a rest. */
const maxRest = 1_000;

/** Milliseconds between two reads after an error. */
const retryDelay = 500;

/** Milliseconds without anybody who waits, after which the reads end. */
const linger = 2_000;

/** The most changes in a read. */
const maxChanges = 1_000;

/** The most pages in memory, and the most characters of their names and tags. */
const maxPages = 40;
const maxLength = 2 ** 21;

/**
 * The end of the feed, which one loop reads for all who wait in this process. It keeps the last pages, so
 * that nobody reads from the database what another has just read.
 */
export class FeedEnd {
  readonly #read: ReadChanges;
  #pages: KeptPage[] = [];
  /** Where the kept pages begin and end. Undefined while the loop does not run. */
  #start: Cursor | undefined;
  #end: Cursor | undefined;
  /** How often those who wait were woken. */
  #news = 0;
  readonly #waiters = new Set<Waiter>();
  #lastWaitAt = 0;
  #isNoticed = false;
  #lastReadAt = 0;
  /** Milliseconds for which the next read waits at least. */
  #rest = 0;
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

  /** Begins to read behind a cursor that is near the present end, unless it reads there already. */
  start(cursor: Cursor): void {
    if (this.#end || this.#isClosed) return;
    this.#start = cursor;
    this.#end = cursor;
    this.#lastWaitAt = performance.now();
    void this.#run(cursor);
  }

  /** Whether the changes behind a cursor are kept, or will be. Only the database knows a cursor behind the end. */
  covers(cursor: Cursor): boolean {
    if (this.#start?.epoch !== cursor.epoch || !this.#end) return false;
    return !isBehind(this.#start, cursor) && !isBehind(cursor, this.#end);
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
    let pause = interval;
    while (!this.#isClosed && this.#isWatched) {
      await this.#pause(pause);
      try {
        const page = await this.#read(end, maxChanges);
        this.#watchOthers(page, end);
        end = page.next;
        this.#end = end; // Before those who wait get the page and go on behind it.
        if (page.changes.length > 0) this.#keep(page);
        pause = page.hasMore ? 0 : interval;
      } catch (error) {
        if (!isPassing(error)) break;
        for (const { onError } of this.#waiters) onError?.(error);
        pause = retryDelay;
      }
      for (const { caller, reject } of this.#waiters) if (caller?.isGone) reject(disconnected());
    }
    this.#pages = [];
    this.#start = undefined;
    this.#end = undefined;
    this.#heldBackSince = undefined;
    this.#tell(); // Those who wait read for themselves, and get an error of their own cursor.
  }

  get #isWatched(): boolean {
    return this.#waiters.size > 0 || performance.now() - this.#lastWaitAt < linger;
  }

  /** Waits for the next read: so many milliseconds, or less after a change by this process. */
  async #pause(milliseconds: number): Promise<void> {
    const noticed = Promise.withResolvers<void>();
    this.#wake = noticed.resolve;
    if (this.#isNoticed || this.#isClosed) this.#wake();
    const soon = Math.max(0, shortInterval - (performance.now() - this.#lastReadAt));
    await setTimeout(this.#rest);
    await Promise.race([setTimeout(milliseconds), noticed.promise.then(() => setTimeout(soon))]);
    this.#rest = 0;
    this.#isNoticed = false;
    this.#lastReadAt = performance.now();
  }

  #keep({ changes, positions, next }: ChangePage): void {
    const length = changes.reduce((sum, { plant }) => sum + contentLength(plant), 0);
    const output = { changes: [...changes], next: formatCursor(next) };
    this.#pages.push({ positions, next, output, length });
    let total = this.#pages.reduce((sum, page) => sum + page.length, 0);
    while (this.#pages.length > maxPages || (total > maxLength && this.#pages.length > 1)) {
      const dropped = this.#pages.shift();
      total -= dropped?.length ?? 0;
      this.#start = dropped?.next ?? this.#start;
    }
    const cost = this.#waiters.size * (costOfPage + changes.length * costOfChange);
    this.#rest = Math.min(maxRest, restFactor * cost);
    this.#tell();
  }

  /** Wakes all who wait. */
  #tell(): void {
    this.#news += 1;
    for (const waiter of this.#waiters) waiter.resolve();
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
