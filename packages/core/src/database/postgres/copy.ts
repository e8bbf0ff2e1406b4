import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { PendingQuery, Row } from 'postgres';

/**
 * Runs a `COPY … FROM STDIN` with these rows, and commits all of them or, after an error, none.
 *
 * postgres.js 3.4 hides the error when the database rejects rows after the last one was sent: the
 * stream never finishes, and the error goes to a query that has already resolved with the stream
 * (https://github.com/porsager/postgres/issues/1173). So this function replaces the query's `reject`.
 */
export async function copyFromStdin(query: PendingQuery<Row[]>, rows: Uint8Array): Promise<void> {
  const rejected = Promise.withResolvers<never>();
  Object.assign(query, { reject: rejected.reject });

  const copy = async () => {
    const stream = await query.writable();
    stream.end(rows);
    await finished(stream);
  };
  await Promise.race([copy(), rejected.promise]);
}

/**
 * Runs a `COPY … TO STDOUT`. Yields its rows as they arrive, in blocks of whole rows.
 *
 * postgres.js 3.4 resolves the query with the stream of the rows. When an error arrives in the same
 * packet, it destroys the stream before anybody can listen, and an error without a listener ends the
 * process. So this function replaces the query's `resolve`. The stream keeps the error for its reader.
 *
 * postgres.js also pauses the socket for a slow reader. When the last rows are in the same packet as the end
 * of the copy, it never resumes the socket, and the next statement on the connection hangs.
 */
export async function* copyToStdout(query: PendingQuery<Row[]>): AsyncGenerator<Uint8Array> {
  const { resolve } = query as unknown as Resolvable;
  const resolveWithListener = (stream: Readable) => {
    Object.assign(query, { resolve }); // It is called once more, at the end of the copy.
    resolve(stream.on('error', () => {}));
  };
  Object.assign(query, { resolve: resolveWithListener });
  const stream = await query.readable();
  yield* stream;
  stream._read(0); // Resumes the socket.
}

/** A part of postgres.js's queries that its types lack. */
interface Resolvable {
  resolve(stream: Readable): void;
}
