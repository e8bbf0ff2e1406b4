import { parseJson } from '@plant-store/schemas';
import { usageError } from '../command-line/errors.ts';
import { isHeader } from './csv/header.ts';
import { idOfText } from './id-of-text.ts';
import { noLines, type ReadOptions, type Row, type RowBlock, textOf } from './row.ts';
import type { Line } from './text/lines.ts';

/**
 * Reads newline-delimited JSON, one plant a line. Skips blank lines.
 *
 * @throws CommandError when the first row shows that the file has another format
 */
export async function* readNdjson(
  blocks: AsyncIterable<Line[]>,
  { lineEnd, createdAt }: ReadOptions,
): AsyncGenerator<RowBlock> {
  const hasTime = createdAt !== 'now';
  let line = 0;
  let isChecked = false;
  for await (const lines of blocks) {
    const first = isChecked ? undefined : lines.find((text) => !isBlank(text));
    if (first !== undefined) {
      checkFormat(first);
      isChecked = true;
    }
    const firstLine = line + 1;
    const counts = { ...noLines, lines: lines.length };
    const rows: Row[] = [];
    for (const text of lines) {
      line++;
      if (typeof text !== 'string') rows.push({ line, error: text.reason });
      else if (!isBlank(text)) rows.push(parse(line, text, hasTime));
      else counts.blank++;
    }
    yield {
      rows,
      counts,
      rejectsHeader: '',
      toReject: (row, reason) => toReject(row, reason, textOf(row, lines, firstLine, lineEnd)),
    };
  }
}

function isBlank(text: Line): boolean {
  return typeof text === 'string' && text.trim() === '';
}

/** @throws CommandError when the first row is CSV, or a part of a JSON document */
function checkFormat(first: Line): void {
  if (typeof first !== 'string') return;
  if (/^\s*\[\s*(\{|$)/.test(first) || first.trim() === '{') {
    throw usageError('the file is one JSON document: convert it with jq -c ".[]" or jq -c "."');
  }
  if (!first.includes('{') && isHeader(first)) {
    throw usageError('the file is CSV: add --format csv');
  }
}

function parse(line: number, text: string, hasTime: boolean): Row {
  const [, idText, name, tag, time] = plainPlant.exec(text) ?? [];
  const id = idText === undefined ? undefined : idOfText(idText);
  if (id !== undefined)
    return { line, plant: { id, name, tag, createdAt: hasTime ? time : undefined } };
  try {
    return { line, plant: withTime(parseJson(text), hasTime) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { line, error: `is not JSON: ${error.message}` };
  }
}

/**
 * A plant as an export and most programs write it, without escapes. Most lines are like this, and this
 * pattern is several times as fast as a JSON parser that keeps long integers exact.
 */
const plainPlant =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow them in strings.
  /^\{"id": ?(0|-?[1-9]\d{0,18}), ?"name": ?"([^"\\\x00-\x1f]*)"(?:, ?"tag": ?"([^"\\\x00-\x1f]*)")?(?:, ?"created_at": ?"([^"\\\x00-\x1f]*)")?\}\r?$/;

/** The store calls the time `createdAt`; an export calls it `created_at`. */
function withTime(value: unknown, hasTime: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!hasTime) return { ...value, createdAt: undefined };
  return 'created_at' in value ? { ...value, createdAt: value.created_at } : value;
}

/**
 * Adds the line and the reason to an object, whose text stays as it is. So it can be corrected there,
 * and the rejects file can be imported. Other rows become the text `row`.
 */
function toReject(row: Row, reason: string, text: string): string {
  const start = `{"line":${row.line},"reason":${JSON.stringify(reason)},`;
  const isObject = 'plant' in row && /^\s*\{\s*"/.test(text);
  if (!isObject) return `${start}"row":${JSON.stringify(text)}}\n`;
  return `${start}${text.trim().replace(rejectStart, '{').slice(1).trimStart()}\n`;
}

/** What an earlier import has added. */
const rejectStart = /^\{"line":\d+,"reason":"(?:[^"\\]|\\.)*",/;
