import { type Cursor, isBehind } from './cursor.ts';
import { type ChangePage, pageOf } from './read-changes.ts';

/** The maximum number of characters of all pages in the ring. */
const maxLength = 2 ** 22;

/** The last pages of the feed, without gaps between them. Followers near the feed's end read these pages. */
export class Ring {
  #pages: ChangePage[] = [];
  /** The pages have the changes after this cursor. */
  #start: Cursor;
  /** The pages have all changes up to this cursor. */
  end: Cursor;

  constructor(start: Cursor) {
    this.#start = start;
    this.end = start;
  }

  /** Adds the changes after `end`. */
  add(page: ChangePage): void {
    this.end = page.next;
    if (page.positions.length === 0) return;
    this.#pages.push(page);
    let length = this.#pages.reduce((sum, { text }) => sum + text.json.length, 0);
    while (length > maxLength && this.#pages.length > 1) {
      const [oldest] = this.#pages.splice(0, 1);
      length -= oldest?.text.json.length ?? 0;
      this.#start = oldest?.next ?? this.#start;
    }
  }

  /** Whether the ring has all changes after a cursor. */
  covers(cursor: Cursor): boolean {
    return (
      cursor.epoch === this.end.epoch &&
      !isBehind(this.#start, cursor) &&
      !isBehind(cursor, this.end)
    );
  }

  /** Returns up to `limit` changes after a cursor, or undefined when there are no changes. */
  after(cursor: Cursor, limit: number): Pick<ChangePage, 'text' | 'next'> | undefined {
    const page = this.#pages.find(({ next }) => isBehind(next, cursor));
    if (!page) return undefined;
    const from = page.positions.findIndex((position) => isBehind(position, cursor));
    if (from === 0 && page.positions.length <= limit) return page;
    const to = Math.min(page.positions.length, from + limit);
    const last = page.positions[to - 1];
    const isCut = last && to < page.positions.length;
    const next = isCut ? { ...last, epoch: cursor.epoch } : page.next;
    return pageOf(page.text.changes.slice(from, to), page.positions.slice(from, to), next);
  }
}
