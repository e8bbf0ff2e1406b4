import type { Readable, Writable } from 'node:stream';
import type { PendingQuery, Row } from 'postgres';

/**
 * Runs a `COPY … FROM STDIN` that inserts `rows`. Commits all rows, or commits no row if there is an error.
 * Returns the number of inserted rows.
 *
 * In version 3.4, postgres.js resolves the query with a stream for the rows. The number of rows or an error
 * arrives only after the last row, when the query has already been resolved
 * (https://github.com/porsager/postgres/issues/1173). `copyFromStdin` therefore replaces the `resolve` and
 * `reject` of the query.
 */
export async function copyFromStdin(query: PendingQuery<Row[]>, rows: Uint8Array): Promise<number> {
  const { resolve } = query as unknown as Resolvable<Writable | { count: number }>;
  const done = Promise.withResolvers<number>();
  const resolveTwice = (result: Writable | { count: number }) =>
    'count' in result ? done.resolve(result.count) : resolve(result);
  Object.assign(query, { resolve: resolveTwice, reject: done.reject });
  const copy = async () => {
    (await query.writable()).end(rows);
    return done.promise;
  };
  return Promise.race([copy(), done.promise]);
}

/**
 * Runs a `COPY … TO STDOUT`. Yields the rows as they arrive, in blocks of whole rows.
 *
 * In version 3.4, postgres.js resolves the query with the stream of the rows. When an error arrives in the
 * same packet as the start of the COPY, postgres.js destroys the stream before anybody can add a listener. An
 * error without a listener stops the process. `copyToStdout` therefore replaces the `resolve` of the query.
 * The reader of the stream still receives the error.
 *
 * For a slow reader, postgres.js also pauses the socket. If the last rows and the end of the COPY are in the
 * same packet, postgres.js never resumes the socket. The next statement on the connection would then hang.
 */
export async function* copyToStdout(query: PendingQuery<Row[]>): AsyncGenerator<Uint8Array> {
  const { resolve } = query as unknown as Resolvable<Readable>;
  const resolveWithListener = (stream: Readable) => {
    Object.assign(query, { resolve }); // At the end of the COPY, postgres.js calls `resolve` again.
    resolve(stream.on('error', () => {}));
  };
  Object.assign(query, { resolve: resolveWithListener });
  const stream = await query.readable();
  yield* stream;
  stream._read(0); // `_read` resumes the socket, which postgres.js has paused.
}

/** A part of a postgres.js query that the library's types lack. */
interface Resolvable<Result> {
  resolve(result: Result): void;
}
