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
