const encoder = new TextEncoder();
const letterT = 0x54;
const letterZ = 0x5a;

/** A buffer of bytes that grows when it is full. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  /** @param size an estimate of the size in bytes */
  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  /** Makes room for `count` bytes, which the next calls write. */
  reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * this.#bytes.length + count);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  /** Adds a byte. The caller has made room for the byte. */
  byte(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  /** Adds bytes. The caller has made room for the bytes. For a few bytes, a loop is faster than `set`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const bytes = this.#bytes;
    let at = this.#length;
    if (end - start > 200) {
      bytes.set(source.subarray(start, end), at);
      at += end - start;
    } else {
      for (let i = start; i < end; i++) bytes[at++] = source[i] ?? 0;
    }
    this.#length = at;
  }

  /** Adds a text of any length. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  /**
   * Adds a time. The caller has made room for the time. Converts Postgres's `2026-11-01 09:30:00.123456+00`
   * to RFC 3339's `2026-11-01T09:30:00.123456Z`. Other times, such as `infinity` and years before 1, stay
   * unchanged.
   */
  time(source: Uint8Array, start: number, end: number): void {
    const isUtc = source[end - 3] === 0x2b && source[end - 2] === 0x30 && source[end - 1] === 0x30;
    if (!isUtc || source[start + 10] !== 0x20) {
      this.copy(source, start, end);
      return;
    }
    const from = this.#length;
    this.copy(source, start, end - 3);
    this.#bytes[from + 10] = letterT;
    this.byte(letterZ);
  }

  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
