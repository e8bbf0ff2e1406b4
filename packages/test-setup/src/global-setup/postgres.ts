import type { TestProject } from 'vitest/node';
import { startPostgres } from '../postgres/start-postgres.ts';
import './provided-context.ts';

/** Starts one Postgres for a test run. Tests get the URL of this Postgres by `inject('postgresUrl')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({
    fsync: 'off', // Tests do not crash the machine, so they need no fsync, which is slow.
    max_connections: '200',
    autovacuum_naptime: '1d', // The transactions of autovacuum would delay the changes of the feed.
  });
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
