import { parseJson } from '@plant-store/schemas/plain';
import { isHeader } from '../csv/header.ts';
import { fileColumns, readColumns } from '../rows/columns.ts';
import { noLines, type ReadOptions, type Row, type RowBlock, textOf } from '../rows/row.ts';
import { FileError } from '../text/file-error.ts';
import type { Line } from '../text/lines.ts';

/**
 * Reads newline-delimited JSON, with a plant in each line. Skips blank lines.
 *
 * @throws FileError when the first row shows that the file has another format
 */
export async function* readNdjson(
  blocks: AsyncIterable<Line[]>,
  options: ReadOptions,
): AsyncGenerator<RowBlock> {
  const parse = lineParser(options);
  let line = 0;
  let isChecked = false;
  for await (const lines of blocks) {
    const first = isChecked ? undefined : lines.find((text) => !isBlank(text));
    if (first !== undefined) {
      checkFormat(first, options);
      isChecked = true;
    }
    const firstLine = line + 1;
    const counts = { ...noLines, lines: lines.length };
    const rows: Row[] = [];
    for (const text of lines) {
      line++;
      if (typeof text !== 'string') rows.push({ line, error: text.reason });
      else if (!isBlank(text)) rows.push(parse(line, text));
      else counts.blank++;
    }
    yield {
      rows,
      counts,
      rejectsHeader: '',
      toReject: (row, reason) =>
        toReject(row, reason, textOf(row, lines, firstLine, options.lineEnd)),
    };
  }
}

function isBlank(text: Line): boolean {
  return typeof text === 'string' && text.trim() === '';
}

/** @throws FileError when the first row is CSV, or a part of a JSON document */
function checkFormat(first: Line, { advice, columns }: ReadOptions): void {
  if (typeof first !== 'string') return;
  if (/^\s*\[\s*(\{|$)/.test(first) || first.trim() === '{') {
    throw new FileError(
      'the file is one JSON document: convert it with jq -c ".[]" or jq -c ".", of jq 1.7 or newer, which keeps long ids exact',
    );
  }
  if (!first.includes('{') && isHeader(first, columns)) {
    throw new FileError(`the file is CSV: ${advice.csv}`);
  }
}

function lineParser(options: ReadOptions): (line: number, text: string) => Row {
  const known = readColumns(options);
  const renamed = known.filter(({ field, name }) => field !== name);
  const ignored = fileColumns(options.columns).filter(
    ({ field }) => !known.some((column) => column.field === field),
  );
  return (line, text) => {
    try {
      const plant = parseJson(text);
      if (isObject(plant)) {
        // `created_at` in a file is `createdAt` in a plant.
        for (const { field, name } of renamed) if (name in plant) plant[field] = plant[name];
        for (const { field } of ignored) plant[field] = undefined;
      }
      return { line, plant };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { line, error: `is not JSON: ${error.message}` };
    }
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Adds the line number and the reason to the unchanged text of an object. When a row is not an object,
 * returns a new object, whose property `row` contains the text of the row.
 */
function toReject(row: Row, reason: string, text: string): string {
  const start = `{"line":${row.line},"reason":${JSON.stringify(reason)},`;
  const isObject = 'plant' in row && /^\s*\{\s*"/.test(text);
  if (!isObject) return `${start}"row":${JSON.stringify(text)}}\n`;
  return `${start}${text.trim().replace(rejectStart, '{').slice(1).trimStart()}\n`;
}

/** Matches the line number and the reason that an earlier import has added. */
const rejectStart = /^\{"line":\d+,"reason":"(?:[^"\\]|\\.)*",/;
