import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopySession } from '../database/database.ts';
import { bulkTimeout } from '../database/deadline.ts';
import type { PGliteConnection } from './pglite-connection.ts';

/**
 * The directory for the files of COPY, inside PGlite's own directory. PGlite cannot use other directories.
 */
const copies = 'plant-store-copies';

/**
 * Opens a session that writes rows into a file with COPY and then reads this file. Other statements wait only
 * while PGlite writes the file: a second or two for a million plants. PGlite has only one session. With an
 * SQL cursor, other statements would wait until the last row is read, or would run in the cursor's
 * transaction. A larger number of plants needs no more memory. The file needs room on the disk until the
 * reader has read the file.
 */
export function openCopies(connection: PGliteConnection, directory: string): CopySession {
  const closing = new AbortController();
  const paths = new Set<string>();
  const remove = (path: string) => rm(path, { force: true });

  return {
    async *copyOut(select, format) {
      const name = randomUUID();
      const path = join(copiesIn(directory), name);
      paths.add(path);
      await mkdir(copiesIn(directory), { recursive: true });
      try {
        await copyToFile(connection, `copy (${select})`, name, `(format ${format})`);
        const { signal } = closing;
        const file = createReadStream(path, { highWaterMark: 256 * 1024, signal });
        yield* format === 'text' ? wholeLines(file) : file;
      } finally {
        await remove(path);
        paths.delete(path);
      }
    },
    async close() {
      closing.abort();
      // Windows may not remove an open file. The next start removes such a file.
      await Promise.allSettled([...paths].map(remove));
    },
  };
}

/** Removes the files that a killed process has left behind. Only this process has the directory open. */
export async function removeCopies(directory: string): Promise<void> {
  await rm(copiesIn(directory), { recursive: true, force: true });
}

function copiesIn(directory: string): string {
  return join(directory, 'postgres', copies);
}

async function copyToFile(
  connection: PGliteConnection,
  copy: string,
  name: string,
  options: string,
): Promise<void> {
  const run = (text: string) => connection.run({ text }, bulkTimeout);
  const { rows } = await run(`select current_setting('data_directory')`);
  // The cast is safe, because the statement returns one row with one column.
  const [[directory]] = rows as [[string]];
  await run(`set timezone to 'UTC'`);
  await run(`${copy} to '${directory}/${copies}/${name}' ${options}`);
}

/** Yields blocks of whole lines. In COPY's text format, the only newline of a line is at the line's end. */
async function* wholeLines(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const block of blocks) {
    const end = block.lastIndexOf('\n') + 1;
    if (end === 0) {
      rest.push(block);
      continue;
    }
    yield Buffer.concat([...rest, block.subarray(0, end)]);
    rest = [block.subarray(end)];
  }
}
