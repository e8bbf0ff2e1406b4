import { formatJson, maxNewPlants } from '@plant-store/schemas';
import { readHeader, rowReader } from './csv.ts';
import { type ByteStream, FileError, maxOpenText, readLines, type TextFacts } from './lines.ts';
import { type Content, type Row, readJsonLine } from './row.ts';

/** The facts about a file. Each line is counted once: `lines` = `rows` + `header` + `blank` + `continued`. */
export interface FileFacts extends TextFacts {
  /** Undefined when the file has only blank lines, or when the header is not valid. */
  format?: 'csv' | 'ndjson';
  delimiter?: ReturnType<typeof readHeader>['delimiter'];
  lines: number;
  rows: number;
  header: number;
  blank: number;
  /** The number of lines that continue a row. */
  continued: number;
  /** Sentences for the user about the parts of the file that are left out. */
  notes: Set<string>;
  /** The start of a file of rejected rows: a byte order mark and the header of this file, or '' for NDJSON. */
  rejectsStart: string;
}

/** The maximum size of a batch, in characters. Each character needs up to six bytes of a request's 1 MiB. */
const maxBatch = 128 * 1024;

/** The maximum size of a plant as JSON, in bytes. The body of its request is a little larger, at most 1 MiB. */
const maxPlant = 2 ** 20 - 1024;

/**
 * Reads the rows of a file of plants: CSV or NDJSON, which may be compressed by gzip. Each line is part of a row,
 * the header of CSV, or blank. `rows` yields batches, each for one call of `createPlants`. Leaving the loop over
 * `rows` cancels the stream. `facts` is complete when `rows` has ended.
 *
 * When the rest of the file is not valid, `rows` yields the rows before it, and then throws a `FileError`.
 *
 * @param encoding the encoding of a file without a byte order mark
 */
export function readRows(stream: ByteStream, encoding: FileFacts['encoding'] = 'utf-8') {
  const counts = { lines: 0, rows: 0, header: 0, blank: 0, continued: 0 };
  const texts = { encoding, lineEnd: '\n', rejectsStart: '' } as const;
  const facts: FileFacts = { ...texts, ...counts, notes: new Set() };
  return { facts, rows: readBatches(stream, facts) };
}

async function* readBatches(stream: ByteStream, facts: FileFacts): AsyncGenerator<Row[], void> {
  const { read, end } = lineReader(facts);
  let batch: Row[] = [];
  let length = 0;
  try {
    for await (const lines of readLines(stream, facts)) {
      for (const line of lines) {
        const row = read(line);
        if (!row) continue;
        length += row.text.length;
        if (batch.length === maxNewPlants || (batch.length > 0 && length > maxBatch)) {
          yield batch;
          batch = [];
          length = row.text.length;
        }
        batch.push(row);
      }
    }
    end();
  } catch (error) {
    if (batch.length > 0) yield batch;
    throw error;
  }
  if (batch.length > 0) yield batch;
}

function lineReader(facts: FileFacts) {
  let contentOf: ((text: string) => Content) | undefined;
  /** The text of a row that continues in the next line. */
  let open: string | undefined;
  let firstLine = 0;

  /** @returns undefined when no row ends with the line */
  function read(line: string): Row | undefined {
    facts.lines++;
    if (!contentOf) {
      if (/^[\s,;|]*$/.test(line)) return void facts.blank++;
      contentOf = start(line);
      if (facts.format === 'csv') return undefined; // The line is the header.
    }
    const isFirst = open === undefined;
    if (isFirst) firstLine = facts.lines;
    else facts.continued++;
    const whole = isFirst ? line : open + facts.lineEnd + line;
    // A further line with an even number of quotes is inside the quoted field, so the line is not parsed.
    const isInside = !isFirst && line.split('"').length % 2 === 1;
    const hasReturn = !isInside && facts.lineEnd === '\n' && line.endsWith('\r');
    const text = hasReturn ? whole.slice(0, -1) : whole;
    const content = isInside ? 'open' : contentOf(text);
    if (content === 'blank') return void facts.blank++;
    if (isFirst) facts.rows++;
    if (content === 'open' && whole.length <= maxOpenText) {
      open = whole;
      return undefined;
    }
    if (typeof content === 'string') throw quoteError();
    open = undefined;
    const row = { line: firstLine, lastLine: facts.lines, text };
    const isLong = text.length > maxBatch && 'plant' in content;
    if (!isLong || new Blob([formatJson(content.plant)]).size <= maxPlant)
      return { ...row, ...content };
    return { ...row, error: 'is longer than 1 MiB, the limit of a request' };
  }

  /** Reads the first line that is not blank. NDJSON begins with `{` or `[`. Any other line is the header of CSV. */
  function start(line: string): (text: string) => Content {
    if (/^\s*[[{]/.test(line)) {
      facts.format = 'ndjson';
      return (text) => readJsonLine(text, facts.notes);
    }
    const header = readHeader(line, facts.lines, facts.notes);
    facts.format = 'csv';
    facts.delimiter = header.delimiter;
    facts.header = 1;
    facts.rejectsStart = `\ufeff${line.trimEnd()}\n`;
    return rowReader(header, facts.notes);
  }

  const quotes =
    'begins a row whose quotes do not match: close each quoted field, and write " in it as ""';
  const quoteError = () => new FileError(quotes, firstLine);

  const end = () => {
    if (open !== undefined) throw quoteError();
  };
  return { read, end };
}
