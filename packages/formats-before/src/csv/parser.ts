/** A field of a record. An empty field without quotes is undefined. */
export type Field = string | undefined;

/** The approximate limit of a quoted field in bytes. A longer field most likely lacks its closing quote. */
const maxOpenSize = 64 * 1024 * 1024;
/** In memory, a line needs its characters and about this number of bytes. */
const lineOverhead = 32;

/**
 * Parses CSV (RFC 4180, with any delimiter) line by line. A quoted field may contain newlines.
 * This class exists, because papaparse and udsv do not distinguish `""` from an empty field, and csv-parse
 * needs more CPU time than our whole reader.
 */
export class CsvParser {
  readonly #delimiter: string;
  readonly #lineEnd: string;
  #fields: Field[] = [];
  /** The first part of a quoted field that continues in the next line. */
  #openField: string | undefined;
  #openSize = 0;

  constructor(delimiter: string, lineEnd: string) {
    this.#delimiter = delimiter;
    this.#lineEnd = lineEnd;
  }

  /** Whether the current record continues in the next line. */
  get isInRecord(): boolean {
    return this.#openField !== undefined;
  }

  /**
   * @returns the record that ends with this line, or undefined when the record continues in the next line
   * @throws SyntaxError when a quote is misplaced. After a SyntaxError, the next line starts a new record.
   */
  add(line: string): Field[] | undefined {
    if (!this.isInRecord && !line.includes('"')) {
      const fields: Field[] = withoutReturn(line).split(this.#delimiter);
      for (let i = 0; i < fields.length; i++) if (fields[i] === '') fields[i] = undefined;
      return fields;
    }
    let at: number | undefined = 0;
    while (at !== undefined) {
      if (this.#openField === undefined && line[at] !== '"') {
        at = this.#addUnquoted(line, at);
      } else {
        const start: number = this.#openField === undefined ? at + 1 : at;
        const end = this.#addQuoted(line, start);
        if (end === undefined) return undefined;
        at = end < line.length ? end + 1 : undefined;
      }
    }
    return this.reset();
  }

  /** Ends the current record, and returns its fields. */
  reset(): Field[] {
    const fields = this.#fields;
    this.#fields = [];
    this.#openField = undefined;
    this.#openSize = 0;
    return fields;
  }

  /** @returns the start of the next field, or undefined at the end of the line */
  #addUnquoted(line: string, start: number): number | undefined {
    const delimiter = line.indexOf(this.#delimiter, start);
    const text = delimiter < 0 ? withoutReturn(line.slice(start)) : line.slice(start, delimiter);
    if (text.includes('"')) this.#throw('has a quote inside an unquoted field');
    this.#fields.push(unquoted(text));
    return delimiter < 0 ? undefined : delimiter + 1;
  }

  /**
   * @returns the index of the delimiter after the field or of the line's end, or undefined when the field
   *   continues in the next line
   */
  #addQuoted(line: string, start: number): number | undefined {
    const before = this.#openField ?? '';
    const quote = closingQuote(line, start);
    if (quote < 0) {
      this.#openField = before + line.slice(start) + this.#lineEnd;
      this.#openSize += line.length + lineOverhead;
      if (this.#openSize > maxOpenSize) this.#throw(unclosedQuote);
      return undefined;
    }
    this.#fields.push((before + line.slice(start, quote)).replaceAll('""', '"'));
    this.#openField = undefined;
    this.#openSize = 0;
    const rest = line.slice(quote + 1);
    if (rest.startsWith(this.#delimiter)) return quote + 1;
    if (withoutReturn(rest) !== '') this.#throw('has text after the closing quote of a field');
    return line.length;
  }

  #throw(message: string): never {
    this.reset();
    throw new SyntaxError(message);
  }
}

export const unclosedQuote = 'has a quoted field without a closing quote';

/** Finds the first quote that is not doubled. Returns -1 when the line has no closing quote. */
function closingQuote(line: string, start: number): number {
  let quote = line.indexOf('"', start);
  while (quote >= 0 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2);
  return quote;
}

/** Removes each CR at the end of a line. A line of a file may end with CRLF or CR CR LF. */
export function withoutReturn(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\r') end--;
  return text.slice(0, end);
}

function unquoted(text: string): Field {
  return text === '' ? undefined : text;
}
