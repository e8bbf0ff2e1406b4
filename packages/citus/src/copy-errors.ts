import type { Database } from '@plant-store/core/cluster';

/**
 * Writes plants with COPY. If a COPY fails, Citus hides whether a worker rejected a row or is down. After a
 * COPY of several rows, this function then reports a rejected row, and the store sends fewer rows. A COPY of
 * one row is repeated as an INSERT, because Citus does not hide the error of an INSERT.
 */
export async function copyPlants(
  database: Pick<Database, 'copyPlants' | 'write'>,
  rows: Uint8Array,
  columns: string,
): Promise<number> {
  try {
    return await database.copyPlants(rows, columns);
  } catch (error) {
    if (!hidesSqlState(error)) throw error;
    const [row = '', ...others] = Buffer.from(rows).toString().slice(0, -1).split('\n');
    if (others.length > 0) throw rejectedRow(error);
    return insertRow(database, row, columns);
  }
}

// See https://github.com/citusdata/citus/blob/v13.2.2/src/backend/distributed/commands/multi_copy.c
function hidesSqlState(error: unknown): boolean {
  return error instanceof Error && 'routine' in error && error.routine === 'ReportCopyError';
}

/** Makes an error with the SQLSTATE `data_exception`. */
function rejectedRow(cause: unknown): Error {
  const error = new Error('a worker rejected a row, or is down', { cause });
  return Object.assign(error, { code: '22000', severity: 'ERROR' });
}

/** @param row a line in the text format of COPY */
async function insertRow(
  { write }: Pick<Database, 'write'>,
  row: string,
  columns: string,
): Promise<number> {
  const values = row.split('\t').map((value) => (value === '\\N' ? null : unescaped(value)));
  const parameters = values.map((_, i) => `$${i + 1}`);
  const text = `insert into plants (${columns}) values (${parameters})`;
  return (await write(text, values, { share: 'bulk' })).count;
}

const escapes: Record<string, string> = { t: '\t', n: '\n', r: '\r' };

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, escaped: string) => escapes[escaped] ?? escaped);
}
