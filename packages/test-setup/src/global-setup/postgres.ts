import type { TestProject } from 'vitest/node';
import { startPostgres } from '../postgres/start-postgres.ts';
import './provided-context.ts';

/** Starts one Postgres for a test run. Tests get its URL by `inject('postgresUrl')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // No test crashes the machine, so no test needs fsync, which is slow.
  const server = await startPostgres({ fsync: 'off', max_connections: '200' });
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
