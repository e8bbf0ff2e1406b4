import type { PlantChanges } from '@plant-store/schemas';
import { withLazyList, withText } from '../plants/output-text.ts';
import { parseChanges } from '../plants/plant-json.ts';
import {
  advance,
  type Cursor,
  formatCursor,
  hasSameLogs,
  isBehind,
  isUpTo,
  type Position,
} from './cursor.ts';
import type { ChangePage } from './read-changes.ts';

/** A page of changes in memory. All waiting followers share one output, and the bytes of its text. */
export interface SharedPage extends Pick<ChangePage, 'after' | 'changes' | 'positions' | 'next'> {
  readonly output: PlantChanges;
}

/** A change with its plant as JSON, so that the surfaces do not format the plant again. */
export interface ChangeText {
  readonly type: string;
  /** The plant as JSON. */
  readonly plant: string;
  /** The cursor after the change. */
  readonly cursor: string;
}

/** The page from which each output was made. */
const pages = new WeakMap<PlantChanges, SharedPage>();

/** The maximum number of characters of all pages in memory. */
const maxLength = 2 ** 22;

const lengthOf = ({ changes }: SharedPage) => changes.reduce((sum, { length }) => sum + length, 0);

/** The last pages that the loop has read. Followers do not need to read these pages again. */
export class KeptPages {
  #pages: SharedPage[] = [];
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
    if (hasSameLogs(cursor, this.#known)) this.#known = advance(this.#known, cursor);
  }

  add(page: ChangePage): void {
    this.#pages.push(toShared(page, true));
    let total = this.#pages.reduce((sum, kept) => sum + lengthOf(kept), 0);
    while (total > maxLength && this.#pages.length > 1) {
      const dropped = this.#pages.shift();
      total -= dropped ? lengthOf(dropped) : 0;
      this.#start = dropped?.next ?? this.#start;
    }
  }

  /**
   * Whether the pages contain the changes after a cursor, or will contain these changes. Only the database
   * can check a cursor that no read has returned.
   */
  covers(cursor: Cursor): boolean {
    return isUpTo(this.#start, cursor) && isUpTo(cursor, this.#known);
  }

  /** Whether no read has returned a cursor beyond this cursor. */
  isAtEnd(cursor: Cursor): boolean {
    return isUpTo(this.#known, cursor);
  }

  /** Returns at most `limit` changes after a cursor, or undefined when there are no changes yet. */
  after(cursor: Cursor, limit: number): SharedPage | undefined {
    const isAfterCursor = (position: Position) => isBehind(position, cursor);
    const page = this.#pages.find(({ positions }) => positions.some(isAfterCursor));
    if (!page) return undefined;
    const { changes } = page;
    const indexes = page.positions.flatMap((position, i) => (isAfterCursor(position) ? [i] : []));
    const isWhole = indexes.length <= limit;
    const isSame = isWhole && indexes.length === changes.length;
    if (isSame && isUpTo(cursor, page.next)) return page;
    const taken = new Set(indexes.slice(0, limit));
    const part = changes.filter((_, i) => taken.has(i));
    const positions = page.positions.filter((_, i) => taken.has(i));
    const next = advance(cursor, isWhole ? page.next : positions);
    return toShared({ after: cursor, changes: part, positions, next });
  }
}

/** @param isKept whether several followers share the page, so that nobody may change its list */
export function toShared(
  { after, changes, positions, next }: Omit<SharedPage, 'output'>,
  isKept = false,
): SharedPage {
  const parse = () => {
    const parsed = parseChanges(`[${changes}]`);
    if (isKept) Object.freeze(parsed);
    return parsed;
  };
  const cursor = formatCursor(next);
  const json = `{"changes":[${changes}],"next":"${cursor}"}`;
  const output = withText(withLazyList('changes', parse, { next: cursor }), {
    json,
    list: 'changes',
    count: changes.length,
  });
  const page = { after, changes, positions, next, output };
  pages.set(output, page);
  return page;
}

/** Returns the cursor after each change of a page. */
export function cursorsOf({ after, positions, next }: Omit<SharedPage, 'output'>): string[] {
  let cursor = after;
  return positions.map((position, i) => {
    cursor = advance(cursor, [position]);
    return formatCursor(i === positions.length - 1 ? next : cursor);
  });
}

/** Returns the changes in an output, each with its plant as JSON. */
export function changeTextsOf(output: PlantChanges): ChangeText[] {
  const page = pages.get(output);
  if (!page) throw new TypeError('the output is not a page of the feed');
  const cursors = cursorsOf(page);
  return page.changes.map((change, i) => {
    const [, type = '', plant = ''] = /^\{"type":"(\w+)","plant":(.*)\}$/s.exec(change) ?? [];
    return { type, plant, cursor: cursors[i] ?? '' };
  });
}
