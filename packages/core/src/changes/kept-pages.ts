import type { PlantChange, PlantChanges } from '@plant-store/schemas';
import { contentLength } from '../plants/columns.ts';
import { type Cursor, formatCursor, isBehind, type Position } from './cursor.ts';
import type { ChangePage } from './read-changes.ts';

/**
 * A page of changes in memory. All waiting followers get the same object, so that it is written as JSON once.
 */
export interface SharedPage extends Pick<ChangePage, 'positions'> {
  readonly next: Cursor;
  readonly output: PlantChanges;
}

interface KeptPage extends SharedPage {
  /** The approximate number of characters that the page has in memory. */
  readonly length: number;
}

/**
 * `maxLength` is the most characters of all pages in memory. `lengthOfChange` is the number of characters of
 * a change without its name and tag.
 */
const maxLength = 2 ** 22;
const lengthOfChange = 100;

/** Keeps the last pages that the loop has read, so that no follower has to read them again. */
export class KeptPages {
  #pages: KeptPage[] = [];
  /** The cursor before the first page. */
  #start: Cursor;
  /** The furthest cursor that a read has returned. */
  #known: Cursor;

  constructor(start: Cursor) {
    this.#start = start;
    this.#known = start;
  }

  /** Notes a cursor that a read has returned. */
  learn(cursor: Cursor): void {
    const known = this.#known;
    if (cursor.epoch === known.epoch && isBehind(cursor, known)) this.#known = cursor;
  }

  add(page: ChangePage): void {
    const lengthOf = ({ plant }: PlantChange) => lengthOfChange + contentLength(plant);
    const length = page.changes.reduce((sum, change) => sum + lengthOf(change), 0);
    const shared = toShared(page);
    Object.freeze(shared.output.changes); // Several followers share the page.
    this.#pages.push({ ...shared, length });
    let total = this.#pages.reduce((sum, kept) => sum + kept.length, 0);
    while (total > maxLength && this.#pages.length > 1) {
      const dropped = this.#pages.shift();
      total -= dropped?.length ?? 0;
      this.#start = dropped?.next ?? this.#start;
    }
  }

  /**
   * Whether the pages contain the changes behind a cursor, or will contain them. Only the database can check
   * a cursor that no read has returned.
   */
  covers(cursor: Cursor): boolean {
    if (cursor.epoch !== this.#start.epoch) return false;
    return !isBehind(this.#start, cursor) && !isBehind(cursor, this.#known);
  }

  /** Returns at most `limit` changes behind a cursor, or undefined when there are none yet. */
  after(cursor: Cursor, limit: number): SharedPage | undefined {
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
}

export function toShared({ changes, positions, next }: ChangePage): SharedPage {
  return { next, positions, output: { changes: [...changes], next: formatCursor(next) } };
}
