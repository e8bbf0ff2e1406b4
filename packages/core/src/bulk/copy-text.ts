import { contentColumns, newColumns, textOf } from '../plants/columns.ts';
import type { LoadedPlant } from './loaded-plant.ts';

const withoutTime = newColumns.map(({ name }) => name).join(', ');

/** The columns for a COPY statement, as SQL. */
export const copyColumns = { withoutTime, withTime: `${withoutTime}, created_at` };

/**
 * Formats plants as lines of COPY's text format (https://www.postgresql.org/docs/current/sql-copy.html). In
 * the column `created_at`, `now` stands for the time of the statement.
 */
export function copyText(plants: readonly LoadedPlant[], columns: string): Uint8Array {
  const hasTime = columns === copyColumns.withTime;
  const text = new TextBuffer(64 * plants.length);
  for (const plant of plants) {
    text.add(String(plant.id));
    for (const { field } of contentColumns) {
      text.add('\t');
      const value = textOf(plant[field]);
      text.add(value === undefined ? '\\N' : escaped(value));
    }
    if (hasTime) text.add(`\t${plant.createdAt ?? 'now'}`);
    text.add('\n');
  }
  return text.bytes();
}

/**
 * Collects UTF-8 text in a buffer. Concatenated strings would leave many small objects to the garbage
 * collector.
 */
class TextBuffer {
  #buffer: Buffer;
  #length = 0;

  /** @param size an estimate of the size in bytes */
  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafeSlow(size);
  }

  add(text: string): void {
    const most = this.#length + 3 * text.length;
    if (most > this.#buffer.length) this.#grow(most);
    this.#length += this.#buffer.write(text, this.#length);
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

const special = /[\\\t\n\r]/;
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text.replace(/[\\\t\n\r]/g, (each) => escapes[each] ?? each);
}
