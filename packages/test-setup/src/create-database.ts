import { randomUUID } from 'node:crypto';
import postgres from 'postgres';

/** Makes an empty database on a server, given by the URL of any of its databases, and returns its URL. */
export async function createDatabase(
  server: string,
  { encoding = 'UTF8' }: { encoding?: string } = {},
): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const sql = postgres(server, { max: 1 });
  await sql.unsafe(`create database ${name} template template0 encoding '${encoding}'`);
  await sql.end();
  return Object.assign(new URL(server), { pathname: name }).href;
}
