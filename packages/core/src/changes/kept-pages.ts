import type { PlantChanges } from '@plant-store/schemas';
import { withLazyList, withText } from '../plants/output-text.ts';
import { parseChanges } from '../plants/plant-json.ts';
import { type Cursor, formatCursor, isBehind, isUpTo, laterOf, type Position } from './cursor.ts';
import type { ChangePage, Wanted } from './read-changes.ts';

/** A page of changes in memory. All waiting followers share the `output` and its JSON. */
export interface SharedPage extends Pick<ChangePage, 'changes' | 'positions' | 'next'> {
  readonly output: PlantChanges;
}

/** A change with its plant as JSON, so that the surfaces do not format the plant again. */
export interface ChangeText {
  readonly type: string;
  readonly plant: string;
  /** The cursor after the change. */
  readonly cursor: string;
}

/** Contains, for each output, the page from which the output was made. */
const pages = new WeakMap<PlantChanges, SharedPage>();

/** The maximum number of characters of all pages in memory. */
const maxLength = 2 ** 22;

/** The maximum number of characters of a merged page. A full message of a webhook has fewer characters. */
const maxMergedLength = 2 ** 15;

const lengthOf = ({ changes }: SharedPage) => changes.reduce((sum, { length }) => sum + length, 0);

/** The last pages that the loop has read. Followers do not need to read these pages again. */
export class KeptPages {
  /** The type of all changes in the pages. Undefined when the pages contain changes of all types. */
  readonly only: Wanted['only'];
  #pages: SharedPage[] = [];
  /** The pages contain the changes after this cursor. */
  #start: Cursor;
  /** The furthest cursor that a read has returned. */
  #known: Cursor;

  constructor(start: Cursor, { only }: Wanted) {
    this.only = only;
    this.#start = start;
    this.#known = start;
  }

  learn(cursor: Cursor): void {
    if (cursor.epoch === this.#known.epoch) this.#known = laterOf(this.#known, cursor);
  }

  /** Adds a page. A page without changes moves the cursors of followers that want only some changes. */
  add(page: ChangePage): void {
    if (this.#pages.at(-1)?.changes.length === 0) this.#pages.pop();
    this.#mergeLast();
    this.#pages.push(toShared(page, true));
    let total = this.#pages.reduce((sum, kept) => sum + lengthOf(kept), 0);
    while (total > maxLength && this.#pages.length > 1) {
      const dropped = this.#pages.shift();
      total -= dropped ? lengthOf(dropped) : 0;
      this.#start = dropped?.next ?? this.#start;
    }
  }

  /**
   * Merges the last two pages when they are small, so that a slow follower gets many changes at a time. Most
   * followers have read these pages, so few followers need a part of the merged page.
   */
  #mergeLast(): void {
    const [one, other] = this.#pages.slice(-2);
    if (!one || !other || lengthOf(one) + lengthOf(other) > maxMergedLength) return;
    const changes = [...one.changes, ...other.changes];
    const positions = [...one.positions, ...other.positions];
    this.#pages.splice(-2, 2, toShared({ changes, positions, next: other.next }, true));
  }

  /**
   * Whether the pages in memory contain all wanted changes after a cursor, or will soon contain these
   * changes. Only the database can check a cursor that no read has returned.
   */
  covers(cursor: Cursor, { only }: Wanted): boolean {
    if (this.only !== undefined && this.only !== only) return false;
    return isUpTo(this.#start, cursor) && isUpTo(cursor, this.#known);
  }

  /** Whether a cursor is at or after the furthest cursor that a read has returned. */
  isAtEnd(cursor: Cursor): boolean {
    return isUpTo(this.#known, cursor);
  }

  /** Returns at most `limit` changes after a cursor, or undefined when there are no changes yet. */
  after(cursor: Cursor, limit: number): SharedPage | undefined {
    const page = this.#pages.find(({ next }) => !isUpTo(next, cursor));
    if (!page) return undefined;
    const from = page.positions.findIndex((position) => isBehind(position, cursor));
    const start = from < 0 ? page.positions.length : from;
    const positions = page.positions.slice(start, start + limit);
    if (positions.length === page.positions.length) return page;
    const last = positions.at(-1);
    const isCut = start + positions.length < page.positions.length;
    const next = isCut && last ? { ...last, epoch: cursor.epoch } : page.next;
    return toShared({ changes: page.changes.slice(start, start + limit), positions, next });
  }
}

/** Whether a follower at a cursor needs the next page. A page without changes may still move the cursor. */
export function hasNews({ changes, next }: ChangePage, cursor: Cursor, { only }: Wanted): boolean {
  return changes.length > 0 || (only !== undefined && !isUpTo(next, cursor));
}

/** @param isKept whether several followers share the page. Nobody may then change the page's list. */
export function toShared(
  { changes, positions, next }: Omit<SharedPage, 'output'>,
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
  const page = { changes, positions, next, output };
  pages.set(output, page);
  return page;
}

/** Removes from a page all changes of plants that do not have the tag. */
export function withTag(page: SharedPage, tag: string | undefined): SharedPage {
  if (tag === undefined) return page;
  const kept = page.positions.flatMap((position, i) => {
    const change = changeForTag(page.changes[i] ?? '', position, tag);
    return change === undefined ? [] : [{ change, position }];
  });
  const changes = kept.map(({ change }) => change);
  const positions = kept.map(({ position }) => position);
  return toShared({ changes, positions, next: page.next });
}

export function changeForTag(change: string, position: Position, tag: string): string | undefined {
  // A search in the text is faster than a parse. Postgres and JavaScript write the same JSON for a tag.
  if (change.includes(JSON.stringify(tag)) && JSON.parse(change).plant.tag === tag) return change;
  // The replaced plant may have had the tag, and the feed omits the deletion of the replaced plant.
  return position.isReplacement ? change.replace('"created"', '"deleted"') : undefined;
}

/** Returns the cursor after each change in a page, so that a client can continue after any change. */
export function cursorsOf(output: PlantChanges): string[] {
  const { positions, next } = pageOf(output);
  const last = positions.length - 1;
  return positions.map((position, i) =>
    formatCursor(i === last ? next : { ...position, epoch: next.epoch }),
  );
}

/** Returns the changes in an output, each with its plant as JSON. */
export function changeTextsOf(output: PlantChanges): ChangeText[] {
  const cursors = cursorsOf(output);
  return pageOf(output).changes.map((change, i) => {
    const [, type = '', plant = ''] = /^\{"type":"(\w+)","plant":(.*)\}$/s.exec(change) ?? [];
    return { type, plant, cursor: cursors[i] ?? '' };
  });
}

function pageOf(output: PlantChanges): SharedPage {
  const page = pages.get(output);
  if (!page) throw new TypeError('the output is not a page of the feed');
  return page;
}
