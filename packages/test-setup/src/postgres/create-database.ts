import { randomUUID } from 'node:crypto';
import { runSql } from './run-sql.ts';

/** Creates an empty database on the server of `serverUrl`, and returns the URL of the new database. */
export async function createDatabase(
  serverUrl: string,
  { encoding = 'UTF8' }: { encoding?: string } = {},
): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await runSql(serverUrl, `create database ${name} template template0 encoding '${encoding}'`);
  return Object.assign(new URL(serverUrl), { pathname: name }).href;
}
