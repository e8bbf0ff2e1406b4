const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const newline = 0x0a;
const letterN = 0x4e;

/** The meaning of each byte. */
const meanings = new Uint8Array(256);
const [plain, endsField, escapes, special] = [0, 1, 2, 3] as const;
meanings.fill(special, 0, 0x20);
for (const [character, meaning] of [
  ['"', special],
  ['\t', endsField],
  ['\n', endsField],
  ['\\', escapes],
] as const) {
  meanings[character.charCodeAt(0)] = meaning;
}

/**
 * Reads rows of COPY's text format (https://www.postgresql.org/docs/current/sql-copy.html) from a block. One
 * object reads all rows one after the other, because an export has millions of rows.
 */
export class CopiedRow {
  /** The start of each field, and then the start of the next row. */
  readonly starts: Uint32Array;
  /** Whether each field is a missing value, `\N`. */
  readonly isNull: boolean[];
  /** Whether any field contains a character that needs an escape in JSON. */
  isSpecial = false;
  bytes: Uint8Array = new Uint8Array();

  constructor(fieldCount: number) {
    this.starts = new Uint32Array(fieldCount + 1);
    this.isNull = new Array(fieldCount).fill(false);
  }

  /** Reads the row that starts at an offset. The block contains only whole rows. */
  read(bytes: Uint8Array, offset: number): void {
    this.bytes = bytes;
    this.isSpecial = false;
    let field = 0;
    this.starts[0] = offset;
    this.isNull[0] = false;
    for (let at = offset; at < bytes.length; at++) {
      const byte = bytes[at] ?? newline;
      const meaning = meanings[byte];
      if (meaning === plain) continue;
      if (meaning === endsField) {
        this.starts[++field] = at + 1;
        if (byte === newline) return;
        this.isNull[field] = false;
      } else if (meaning === escapes) {
        at++;
        // In COPY's text format, `\N` always is a missing value.
        if (bytes[at] === letterN) this.isNull[field] = true;
        else this.isSpecial = true;
      } else {
        this.isSpecial = true;
      }
    }
  }

  /** The offset of the next row. */
  get next(): number {
    return this.starts[this.starts.length - 1] ?? 0;
  }

  start(field: number): number {
    return this.starts[field] ?? 0;
  }

  end(field: number): number {
    return (this.starts[field + 1] ?? 0) - 1;
  }

  /** The text of a field. */
  text(field: number): string {
    const text = decoder.decode(this.bytes.subarray(this.start(field), this.end(field)));
    return text.replace(/\\(.)/g, (_, character: string) => unescaped[character] ?? character);
  }
}

const unescaped: Record<string, string> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
