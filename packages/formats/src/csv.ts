import { formatJson, type NewPlant, shorten } from '@plant-store/schemas';
import { FileError } from './lines.ts';
import { type Content, checkPlant, leaveOut, TextPlant } from './row.ts';

const delimiters = [',', ';', '\t', '|'] as const;

/** The names that a column may have, in upper or lower case. */
export const columnNames: Readonly<Record<'id' | 'name' | 'tag', readonly string[]>> = {
  id: ['id', 'nr', 'number'],
  name: ['name'],
  tag: ['tag', 'family', 'type'],
};

/** Matches a text that begins with `'`, and that a spreadsheet program would run as a formula without the `'`. */
const formula = /^'+[=+\-@\t\r]/;

/** The columns of an export that an import leaves out. */
const times = ['created_at', 'createdat', 'updated_at', 'updatedat'];

/** A field without quotes and without text is undefined. */
type Field = string | undefined;

/**
 * Reads the header, and chooses the delimiter that gives the most known columns.
 *
 * @throws FileError when a column is unknown, missing or repeated
 */
export function readHeader(text: string, line: number, notes: Set<string>) {
  const known = [...Object.values(columnNames).flat(), ...times];
  const headers = delimiters.map((delimiter) => {
    const names = text.split(delimiter).map((name) => name.replaceAll('"', '').trim());
    while (names.length > 1 && names.at(-1) === '') names.pop();
    const columns = names.map((name) => name.toLowerCase());
    const unknown = names.filter((name) => !known.includes(name.toLowerCase()));
    return { delimiter, columns, unknown, rank: names.length - unknown.length };
  });
  const header = headers.reduce((best, each) => (each.rank > best.rank ? each : best));
  const fail = (reason: string) => {
    const advice = 'the first line must name the columns id and name, and may name tag';
    throw new FileError(`${reason}: ${advice}`, line);
  };
  const { columns, unknown } = header;
  for (const name of unknown) fail(`has the unknown column ${JSON.stringify(shorten(name, 40))}`);
  for (const [column, names] of Object.entries(columnNames)) {
    const found = columns.filter((name) => names.includes(name));
    if (found.length > 1) fail(`has two columns for ${column}: ${found.join(' and ')}`);
    if (found.length === 0 && column !== 'tag') fail(`has no column ${column}`);
  }
  for (const name of columns) if (times.includes(name)) leaveOut(name, notes);
  return header;
}

/** Makes a function that reads a row of CSV (RFC 4180) with the delimiter of the header. */
export function rowReader(
  { delimiter, columns }: ReturnType<typeof readHeader>,
  notes: Set<string>,
): (text: string) => Content {
  const { length } = columns;
  const find = (names: readonly string[]) => columns.findIndex((name) => names.includes(name));
  const [id, name, tag] = [find(columnNames.id), find(columnNames.name), find(columnNames.tag)];

  return (text) => {
    const fields = split(text, delimiter);
    if (!Array.isArray(fields)) return fields;
    // Spreadsheet programs write empty rows after the last row, and empty fields after the last column.
    if (text.trim() === '' || fields.every((field) => field === undefined)) return 'blank';
    while (fields.length > length && fields.at(-1) === undefined) fields.pop();
    if (fields.length !== length) {
      return { error: `has fields: ${fields.length}, but the header has ${length}` };
    }
    const texts = { name: unmarked(fields[name], notes), tag: unmarked(fields[tag], notes) };
    return checkPlant(TextPlant, { id: fields[id], ...texts });
  };
}

/** Removes the `'` that `plantWriter` puts before a formula. */
function unmarked(field: Field, notes: Set<string>): Field {
  if (field === undefined || !formula.test(field)) return field;
  notes.add("The ' before a formula (=, +, -, @) is left out.");
  return field.slice(1);
}

/** Splits a row. Odd parts are inside quotes, and an empty part between two odd parts is a doubled quote. */
function split(text: string, delimiter: string): Field[] | Content {
  const fields: Field[] = [];
  let quoted: string | undefined;
  const parts = text.split('"');
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? '';
    const isLast = at === parts.length - 1;
    if (at % 2 === 1) {
      if (isLast) return 'open';
      quoted = quoted === undefined ? part : `${quoted}"${part}`;
      continue;
    }
    if (part === '' && at > 0 && !isLast) continue; // A doubled quote.
    const unquoted = part.split(delimiter);
    if (at > 0) {
      if (unquoted.shift() !== '') return 'fault';
      fields.push(quoted);
      quoted = undefined;
    }
    if ((!isLast && unquoted.pop() !== '') || /[\r\n]/.test(part)) return { error: unquotedError };
    for (const field of unquoted) fields.push(field === '' ? undefined : field);
  }
  return fields;
}

const unquotedError =
  'has a quote or a line break in a field: put the field in quotes, and write " as ""';

/** A new plant, or a plant of the store. */
type WritablePlant = NewPlant & {
  readonly createdAt?: Date | undefined;
  readonly updatedAt?: Date | undefined;
};

/**
 * Makes a writer of files that `readRows` reads exactly. `start` is the text before the first plant. CSV has a
 * byte order mark, because Excel would otherwise read the file as Windows-1252. A text that a spreadsheet program
 * would run as a formula gets a `'` at the start.
 */
export function plantWriter(format: 'csv' | 'ndjson') {
  const isCsv = format === 'csv';
  return {
    start: isCsv ? '\ufeffid,name,tag,created_at,updated_at\n' : '',
    rows: (plants: readonly WritablePlant[]) =>
      plants.map((plant) => `${isCsv ? csvRow(plant) : formatJson(plant)}\n`).join(''),
  };
}

function csvRow({ id, name, tag, createdAt, updatedAt }: WritablePlant): string {
  const times = [createdAt?.toISOString(), updatedAt?.toISOString()];
  return [id, csvField(name), csvField(tag), ...times].join();
}

/** An empty field is a missing text, so an empty text has quotes. */
function csvField(text: string | undefined): string {
  if (text === undefined) return '';
  const marked = formula.test(`'${text}`) ? `'${text}` : text;
  return /^$|[",\r\n]/.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked;
}
