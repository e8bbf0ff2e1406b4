import { type Columns, fileColumns, hasName, isRequired } from '../rows/columns.ts';
import { noLines, type ReadOptions } from '../rows/row.ts';
import { FileError } from '../text/file-error.ts';
import type { Line } from '../text/lines.ts';
import { headerError } from './header-error.ts';
import { CsvParser, withoutReturn } from './parser.ts';

const delimiters = [',', ';', '\t', '|'];

export interface CsvHeader {
  delimiter: string;
  /** The names of the columns, without spaces around each name. */
  names: string[];
  /** The names of the columns in lower case, for comparisons. */
  columns: string[];
  /** Whether texts and ids may begin with an additional `'`, as in a file for spreadsheet programs. */
  isForSpreadsheet: boolean;
  /** The unchanged text of the header row. */
  text: string;
}

type HeaderOptions = Omit<ReadOptions, 'createdAt' | 'warn'>;

/**
 * Finds the header in the first lines of a file. Blank lines and a line such as `sep=;` may precede the
 * header.
 *
 * @returns no header when all lines are blank. `counts` contains the number of lines up to the header's end.
 * @throws FileError when the first row is not a valid header
 */
export function findHeader(lines: Line[], options: HeaderOptions) {
  const { delimiter, lineEnd, columns, onHeader } = options;
  const counts = { ...noLines };
  const skipBlankLines = () => {
    for (; isBlank(lines[counts.lines]); counts.lines++) counts.blank++;
  };
  skipBlankLines();
  const separator = readSeparator(lines[counts.lines]);
  if (separator) {
    counts.lines++;
    counts.header++;
    skipBlankLines();
  }
  if (counts.lines === lines.length) return { counts, header: undefined };

  const start = counts.lines;
  const tried = delimiter ? [delimiter] : separator ? [separator, ...delimiters] : delimiters;
  const headers = tried.flatMap((each) => readHeader(lines, start, each, lineEnd) ?? []);
  const header = headers.find((each) => hasPlants(each, columns));
  const [widest] = headers.toSorted((a, b) => b.columns.length - a.columns.length);
  onHeader?.((header ?? widest)?.names ?? []);
  if (!header) throw headerError(lines[start] ?? '', widest, options);
  checkNames(header);
  counts.lines = header.end;
  counts.header += header.end - start;
  return { counts, header };
}

/** Whether a line is a header that contains all required columns. */
export function isHeader(line: string, columns: Columns | undefined): boolean {
  return delimiters.some((each) => {
    const header = readHeader([line], 0, each, '\n');
    return header !== undefined && hasPlants(header, columns);
  });
}

function isBlank(line: Line | undefined): boolean {
  return typeof line === 'string' && /^[\s,;|]*$/.test(line);
}

/** Reads the delimiter from a line such as `sep=;`, which Excel understands. */
function readSeparator(line: Line | undefined): string | undefined {
  return typeof line === 'string' ? /^"?sep=([^"])"?\r*$/i.exec(line)?.[1] : undefined;
}

/** @returns undefined when the lines do not start with a complete record. */
function readHeader(lines: Line[], start: number, delimiter: string, lineEnd: string) {
  const parser = new CsvParser(delimiter, lineEnd);
  try {
    for (let at = start; at < lines.length; at++) {
      const line = lines[at];
      const record = typeof line === 'string' && parser.add(line);
      if (record === false) return undefined;
      if (!record) continue;
      const text = withoutReturn(lines.slice(start, at + 1).join(lineEnd));
      const names = record.map((field) => (field ?? '').trim());
      const isForSpreadsheet = names.includes("'id");
      const columns = names.map((name) => (name === "'id" ? 'id' : name.toLowerCase()));
      return { delimiter, names, columns, isForSpreadsheet, text, end: at + 1 };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

function hasPlants({ columns: names }: CsvHeader, columns: Columns | undefined): boolean {
  const required = fileColumns(columns).filter(isRequired);
  return required.every((column) => names.some((name) => hasName(column, name)));
}

/** @throws FileError when two columns have the same name */
function checkNames({ columns }: CsvHeader): void {
  const repeated = columns.find((name, i) => name !== '' && columns.indexOf(name) !== i);
  if (repeated === undefined) return;
  throw new FileError(
    `the CSV header has the column ${JSON.stringify(repeated)} twice: rename or remove one`,
  );
}

/** Returns the names of the columns that the reader does not use. Ignores columns without a name. */
export function unusedColumns(header: CsvHeader, columns: Columns | undefined): string[] {
  const known = fileColumns(columns);
  const isUsed = (name: string) =>
    name === "'id" || known.some((column) => hasName(column, name.toLowerCase()));
  const names = isOfRejectsFile(header) ? header.names.slice(2) : header.names;
  return names.filter((name) => name !== '' && !isUsed(name));
}

/** Whether the file is the rejects file of an import. A rejects file starts with two additional columns. */
export function isOfRejectsFile({ columns }: CsvHeader): boolean {
  return columns[0] === 'line' && columns[1] === 'reason';
}
