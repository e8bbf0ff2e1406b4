import { fileColumns, isRequired, writtenColumns } from '../rows/columns.ts';
import type { ReadOptions } from '../rows/row.ts';
import { FileError } from '../text/file-error.ts';
import { type Line, UnreadableLine } from '../text/lines.ts';

interface Header {
  names: string[];
  columns: string[];
}

type Options = Pick<ReadOptions, 'columns' | 'advice'>;

/**
 * Explains why the first row of a file is not a header.
 *
 * @param widest the first row, split by the delimiter that makes the most columns
 */
export function headerError(line: Line, widest: Header | undefined, options: Options): FileError {
  if (line instanceof UnreadableLine) return new FileError(`the CSV header ${line.reason}`);
  const names = (widest?.names ?? [line.slice(0, 200)]).map((name) => JSON.stringify(name));
  const found = `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  return new FileError(
    `${neededColumns(options)}, but it has ${found}: ${hint(line, widest, options)}`,
  );
}

function neededColumns({ columns }: Options): string {
  const required = fileColumns(columns).filter(isRequired);
  const optional = writtenColumns(columns).filter(({ isOptional }) => isOptional);
  const verb = optional.length === 1 ? 'is' : 'are';
  const others = optional.length > 0 ? ` (${listed(optional)} ${verb} optional)` : '';
  return `the CSV header must have the columns ${listed(required)}${others}`;
}

function listed(columns: readonly { name: string }[]): string {
  return new Intl.ListFormat('en').format(columns.map(({ name }) => name));
}

function hint(line: string, widest: Header | undefined, { columns, advice }: Options): string {
  if (/^\s*\{\s*"/.test(line)) return `for NDJSON, ${advice.ndjson}`;
  if (widest?.columns.some((name) => /^-?\d+$/.test(name))) {
    const names = writtenColumns(columns).map(({ name }) => name);
    return `if the file starts with a row, insert the line ${names.join()} before it`;
  }
  return `rename the columns, or ${advice.delimiter}`;
}
