// Today's reader of files behind the interface that formats is getting. This file goes then.

import { NewPlant } from '@plant-store/schemas';
import { createPlantWriter, decompressors, FileError, readPlants, reasonOf } from './today.ts';

export { FileError };
export type Format = 'csv' | 'ndjson';
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];
export type Row = { readonly line: number; readonly lastLine: number; readonly text: string } & (
  | { readonly plant: NewPlant; readonly error?: undefined }
  | { readonly plant?: undefined; readonly error: string }
);
export interface FileFacts {
  lines: number;
  rows: number;
  header: number;
  blank: number;
  continued: number;
  notes: string[];
  rejectsStart: string;
}
export function readRows(
  stream: ReadableStream<Uint8Array>,
  _options: { encoding?: Encoding | undefined } = {},
) {
  const facts: FileFacts = {
    lines: 0,
    rows: 0,
    header: 0,
    blank: 0,
    continued: 0,
    notes: [],
    rejectsStart: '',
  };
  return { facts, rows: rows() };
  async function* rows(): AsyncGenerator<Row[], void> {
    const it = stream[Symbol.asyncIterator]();
    const first = await it.next();
    const peek: number | undefined = first.value?.[0];
    async function* all() {
      if (!first.done) yield first.value;
      for (;;) {
        const n = await it.next();
        if (n.done) return;
        yield n.value;
      }
    }
    const blocks = await readPlants(all(), peek === 123 ? 'ndjson' : 'csv', {
      decompressors,
      createdAt: 'now',
      warn: (m) => facts.notes.push(m),
    });
    for await (const block of blocks) {
      facts.rejectsStart = block.rejectsHeader;
      facts.header += block.counts.header;
      facts.blank += block.counts.blank;
      facts.lines += block.counts.lines - block.rows.length - block.counts.continued;
      let batch: Row[] = [];
      for (const row of block.rows) {
        facts.rows++;
        facts.lines++;
        const last = row.lastLine ?? row.line;
        facts.continued += last - row.line;
        facts.lines += last - row.line;
        const base = {
          line: row.line,
          lastLine: last,
          get text() {
            return block.toReject(row, '').trimEnd();
          },
        };
        if ('error' in row) batch.push(Object.assign(base, { error: row.error }) as Row);
        else {
          const parsed = NewPlant.safeParse(row.plant);
          batch.push(
            Object.assign(
              base,
              parsed.success
                ? { plant: parsed.data }
                : { error: reasonOf(String(parsed.error.issues[0]?.message), row.plant) },
            ) as Row,
          );
        }
        if (batch.length === 1000) {
          yield batch;
          batch = [];
        }
      }
      yield batch;
    }
  }
}
export function plantWriter(format: Format) {
  const w = createPlantWriter(format);
  return { start: w.header, rows: (plants: readonly object[]) => plants.map(w.row).join('') };
}
