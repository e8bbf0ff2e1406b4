import postgres from 'postgres';

/** Runs statements one after another on a new connection. */
export async function runSql(url: string, ...statements: string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}
