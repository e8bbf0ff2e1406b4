import { FileError, type Row, readRows } from '../src/index.ts';

type Options = Parameters<typeof readRows>[1];

/** Reads a whole file. Returns the rows in front of an error, too. */
export async function read(content: string | Uint8Array, options?: Options, chunkSize = 2 ** 16) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const file = readRows(chunked(bytes, chunkSize), options);
  const rows: Row[] = [];
  let error: FileError | undefined;
  try {
    for await (const batch of file.rows) rows.push(...batch);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    error = thrown;
  }
  const plants = rows.flatMap(({ plant }) => plant ?? []);
  const errors = rows.flatMap(({ line, error }) =>
    error === undefined ? [] : `${line}: ${error}`,
  );
  return { rows, plants, errors, error, facts: file.facts };
}

function chunked(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}
