/** A field of a record; undefined where there is nothing, not even quotes. */
export type Field = string | undefined;

/** Characters of a quoted field, after which its quote counts as forgotten. */
const maxField = 64 * 1024 * 1024;

/**
 * Parses CSV (RFC 4180) line by line; a quoted field may hold line ends.
 *
 * Our own, since a parser that tells `""` from nothing and goes on after an error takes most of the
 * time of an import, where nearly every line is a mere list of texts with commas between them.
 */
export class CsvParser {
  #fields: Field[] = [];
  /** What has been read of a quoted field that is not closed yet. */
  #open: string | undefined;

  /** Whether a record goes on in the next line. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /**
   * Takes a line, and returns the record that is complete with it.
   * @throws SyntaxError where a quote is misplaced; the next line begins a record.
   */
  add(line: string): Field[] | undefined {
    if (!this.isOpen && !line.includes('"')) {
      return withoutReturn(line).split(',').map(unquoted);
    }
    let at: number | undefined = 0;
    while (at !== undefined) {
      if (this.#open === undefined && line[at] !== '"') {
        at = this.#addUnquoted(line, at);
      } else {
        const start: number = this.#open === undefined ? at + 1 : at;
        const end = this.#addQuoted(line, start);
        if (end === undefined) return undefined;
        at = end < line.length ? end + 1 : undefined;
      }
    }
    return this.reset();
  }

  /** Forgets the record that is open, and returns its fields. */
  reset(): Field[] {
    const fields = this.#fields;
    this.#fields = [];
    this.#open = undefined;
    return fields;
  }

  /** @returns where the next field begins. */
  #addUnquoted(line: string, start: number): number | undefined {
    const comma = line.indexOf(',', start);
    const text = comma < 0 ? withoutReturn(line.slice(start)) : line.slice(start, comma);
    if (text.includes('"')) this.#fail('has a quote within a field that is not quoted');
    this.#fields.push(unquoted(text));
    return comma < 0 ? undefined : comma + 1;
  }

  /** @returns where the field ends: at a comma or behind the line; undefined while it is open. */
  #addQuoted(line: string, start: number): number | undefined {
    const before = this.#open ?? '';
    const quote = closingQuote(line, start);
    if (quote < 0) {
      this.#open = `${before}${line.slice(start)}\n`;
      if (this.#open.length > maxField) this.#fail(neverClosed);
      return undefined;
    }
    this.#fields.push((before + line.slice(start, quote)).replaceAll('""', '"'));
    this.#open = undefined;
    const rest = line.slice(quote + 1);
    if (rest.startsWith(',')) return quote + 1;
    if (withoutReturn(rest) !== '') this.#fail('has text behind a quoted field');
    return line.length;
  }

  #fail(problem: string): never {
    this.reset();
    throw new SyntaxError(problem);
  }
}

export const neverClosed = 'opens a quote that is never closed';

/** Where a quote stands that is not doubled. */
function closingQuote(line: string, start: number): number {
  let quote = line.indexOf('"', start);
  while (quote >= 0 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2);
  return quote;
}

/** A line may end with a carriage return and a newline. */
function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function unquoted(text: string): Field {
  return text === '' ? undefined : text;
}
