const [newline, quote] = [0x0a, 0x22] as const;

/** Counts the rows of an export. In CSV, a newline in quotes does not end a row. */
export class RowCounter {
  rows = 0;
  readonly #hasQuotes: boolean;
  #isInQuotes = false;

  constructor(format: 'csv' | 'text') {
    this.#hasQuotes = format === 'csv';
  }

  add(block: Uint8Array): void {
    for (const byte of block) {
      if (byte === newline && !this.#isInQuotes) this.rows++;
      else if (byte === quote && this.#hasQuotes) this.#isInQuotes = !this.#isInQuotes;
    }
  }
}
