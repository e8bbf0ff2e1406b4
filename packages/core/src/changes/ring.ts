import { type Cursor, isBehind } from './cursor.ts';
import { ChangesText, type ChangeText } from './read-changes.ts';

/** The maximum number of characters of all pages in the ring. */
const maxLength = 2 ** 22;

/** The last pages of the feed, without gaps between them. Followers near the feed's end read these pages. */
export class Ring {
  #pages: ChangesText[] = [];
  /** The pages have the changes after this cursor. */
  #start: Cursor;
  /** The pages have all changes up to this cursor. */
  end: Cursor;

  constructor(start: Cursor) {
    this.#start = start;
    this.end = start;
  }

  /** Adds the changes after `end`. */
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

  /** Returns up to `limit` changes after a cursor, or undefined when the ring does not have all of them. */
  after(cursor: Cursor, limit: number): ChangesText | undefined {
    const isOutside = isBehind(this.#start, cursor) || isBehind(cursor, this.end);
    if (cursor.epoch !== this.end.epoch || isOutside) return undefined;
    const isNew = ({ position }: ChangeText) => isBehind(position, cursor);
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
