import type { Database } from '@plant-store/core/cluster';

/**
 * Writes plants with COPY, and reports errors as a single Postgres server does. Citus replaces the SQLSTATE
 * of a worker's error by XX000 (`ReportCopyError` in
 * https://github.com/citusdata/citus/blob/v13.2.2/src/backend/distributed/commands/multi_copy.c). With
 * XX000, the store cannot distinguish a rejected row from a lost worker. When a COPY of several rows fails,
 * this function reports a rejected row. The store then sends fewer rows in one COPY. A single row is sent
 * with INSERT, because Citus does not replace the SQLSTATE of an INSERT.
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
