import { FileError, type FileFacts, type Row, readRows } from '../src/index.ts';

/** Reads a whole file. If the file has an error, returns the error and the rows before it. */
export async function read(
  content: string | Uint8Array,
  chunkSize = 2 ** 16,
  encoding?: FileFacts['encoding'],
) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const file = readRows(chunked(bytes, chunkSize), encoding);
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

function chunked(bytes: Uint8Array, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
      at += size;
    },
  });
}
