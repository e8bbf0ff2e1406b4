import { finished } from 'node:stream/promises';
import type { PendingQuery, Row } from 'postgres';

/**
 * Sends rows to a `COPY … FROM STDIN`; settles when they are committed, or none is.
 *
 * postgres.js 3.4 tells nobody when the database refuses rows after the last one was sent: the
 * stream never finishes, and the error goes to a query that has resolved with the stream already
 * (https://github.com/porsager/postgres/issues/1173). So the query's error is caught on its way.
 */
export async function copyFromStdin(query: PendingQuery<Row[]>, rows: string): Promise<void> {
  const refused = Promise.withResolvers<never>();
  Object.assign(query, { reject: refused.reject });

  const copy = async () => {
    const stream = await query.writable();
    stream.end(rows);
    await finished(stream);
  };
  await Promise.race([copy(), refused.promise]);
}
