import { setTimeout } from 'node:timers/promises';
import { isTemporary } from '@plant-store/schemas';
import type { Caller } from '../database/deadline.ts';
import { callerDisconnected, closing } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { type Cursor, isAfter, lastId } from './cursor.ts';
import { ChangesText, type ChangeText } from './read-changes.ts';

export interface WaitOptions {
  /** An abort ends the wait or `follow` with the signal's reason. The signal of a long poll is its time limit. */
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
}

type Waiter = PromiseWithResolvers<void> & Pick<WaitOptions, 'caller'>;

/** At the end of the feed, the loop pauses for twice this many ms. A write of this process ends the second half. */
const halfPause = 75;

/** The minimum number of milliseconds between an error and the next read. */
export const retryDelay = 500;

/** The loop continues for this many milliseconds after the last wait of a follower or the last use of a page. */
const linger = 2_000;

/**
 * Keeps the newest changes in memory. While followers wait, one loop polls the database for all followers of
 * this process, and so finds the writes of every process.
 */
export class Tail {
  readonly #read: (after: Cursor) => Promise<ChangesText>;
  /** The last pages. Undefined while the loop does not run. */
  #pages: Pages | undefined;
  readonly #waiters = new Set<Waiter>();
  #lastUse = 0;
  /** The next write of this process resolves this promise. */
  #written = Promise.withResolvers<void>();
  isClosed = false;

  /** @param read reads the changes after a cursor */
  constructor(read: (after: Cursor) => Promise<ChangesText>) {
    this.#read = read;
  }

  /** Returns up to `limit` changes after a cursor: none at the end of the tail, undefined outside of the tail. */
  after(cursor: Cursor, limit: number): ChangesText | undefined {
    const page = this.#pages?.after(cursor, limit);
    if (page && page.changes.length > 0) this.#lastUse = performance.now();
    return page;
  }

  /**
   * Waits until there may be changes after a cursor near the end of the feed.
   *
   * @throws PlantStoreError of the loop's read, or `shuttingDown`; after an abort, the signal's reason
   */
  async news(cursor: Cursor, { signal, caller }: WaitOptions): Promise<void> {
    signal?.throwIfAborted();
    if (this.isClosed) throw closing();
    this.#lastUse = performance.now(); // So `#isWanted` is true before the waiter is added.
    if (!this.#pages) void this.#run(cursor);
    // The loop may have read new changes while the follower read the database.
    if (this.after(cursor, 1)?.changes.length) return;
    const waiter = { ...Promise.withResolvers<void>(), caller };
    const abort = () => waiter.reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    this.#waiters.add(waiter);
    try {
      await waiter.promise;
    } finally {
      this.#waiters.delete(waiter);
      this.#lastUse = performance.now();
      signal?.removeEventListener('abort', abort);
    }
  }

  async #run(start: Cursor): Promise<void> {
    const pages = new Pages(start);
    this.#pages = pages;
    while (this.#isWanted) {
      // Only a page at the end of the feed ends with `lastId`. After another page, the loop continues immediately.
      if (pages.end.id === lastId) {
        await setTimeout(halfPause);
        await Promise.race([setTimeout(halfPause), this.#written.promise]);
        this.#written = Promise.withResolvers();
      }
      try {
        const page = await this.#read(pages.end);
        pages.add(page);
        if (page.changes.length > 0) for (const { resolve } of this.#waiters) resolve();
      } catch (error) {
        if (!isPassing(error)) break;
        for (const { reject } of this.#waiters) reject(error);
        await setTimeout(retryDelay);
      }
      for (const { caller, reject } of this.#waiters) {
        if (caller?.isGone) reject(callerDisconnected());
      }
    }
    this.#pages = undefined;
    // Each waiting follower now reads the database after its own cursor, and gets the error of its own read.
    for (const { resolve } of this.#waiters) resolve();
  }

  get #isWanted(): boolean {
    return !this.isClosed && (this.#waiters.size > 0 || performance.now() - this.#lastUse < linger);
  }

  /** Ends the loop's wait for a write of this process. */
  readonly notice = (): void => this.#written.resolve();

  /** Rejects all current and later waits with the error `shuttingDown`. */
  close(): void {
    this.isClosed = true;
    for (const { reject } of this.#waiters) reject(closing());
    this.notice();
  }
}

/** The maximum number of characters in all pages together. */
const maxLength = 2 ** 22;

/** Pages with all changes between the cursors `#start` and `end`. */
class Pages {
  #pages: ChangesText[] = [];
  #start: Cursor;
  end: Cursor;

  constructor(start: Cursor) {
    this.#start = start;
    this.end = start;
  }

  /** Adds the changes after `end`, and drops the oldest pages beyond `maxLength`. */
  add(page: ChangesText): void {
    this.end = page.end;
    if (page.changes.length === 0) return;
    this.#pages.push(page);
    let length = this.#pages.reduce((sum, { json }) => sum + json.length, 0);
    while (length > maxLength && this.#pages.length > 1) {
      const [oldest] = this.#pages.splice(0, 1);
      length -= oldest?.json.length ?? 0;
      this.#start = oldest?.end ?? this.#start;
    }
  }

  after(cursor: Cursor, limit: number): ChangesText | undefined {
    const isOutside = isAfter(this.#start, cursor) || isAfter(cursor, this.end);
    if (cursor.epoch !== this.end.epoch || isOutside) return undefined;
    const isNew = ({ position }: ChangeText) => isAfter(position, cursor);
    const page = this.#pages.find(({ changes }) => changes.slice(-1).some(isNew));
    if (!page) return new ChangesText([], this.end);
    const from = page.changes.findIndex(isNew);
    if (from === 0 && page.changes.length <= limit) return page;
    const changes = page.changes.slice(from, from + limit);
    const isCut = from + limit < page.changes.length;
    const last = changes.at(-1)?.position;
    return new ChangesText(changes, isCut && last ? { ...page.end, ...last } : page.end);
  }
}

/** Whether a follower continues after an error, such as `databaseUnavailable` or `overloaded`. */
export function isPassing(error: unknown): error is PlantStoreError {
  if (!(error instanceof PlantStoreError)) return false;
  // After `shuttingDown`, a follower must use another instance.
  return isTemporary(error.code) && error.kind !== 'shuttingDown';
}
