import type { TestProject } from 'vitest/node';
import { startPostgres } from './start-postgres.ts';
import './provided-context.ts';

/** Vitest's global setup: one Postgres for a run, given to tests as `inject('postgresUrl')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What survives a crash of the machine is no subject of tests, and fsync is most of their time.
  const server = await startPostgres({ fsync: 'off', max_connections: '200' });
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
