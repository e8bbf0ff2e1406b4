import {
  createDatabase,
  hasPgBouncer,
  keepsPreparedStatements,
  startPgBouncer,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connectPostgres } from '../../src/postgres/connection.ts';
import { closeAtEnd } from '../fixtures/databases.ts';

/** Starts a PgBouncer. The clients of this PgBouncer share `poolSize` connections to a database. */
async function startPooler(poolSize: number) {
  const pgBouncer = await startPgBouncer(await createDatabase(inject('postgresUrl')), poolSize);
  const admin = postgres(pgBouncer.url, { max: 1, prepare: false, fetch_types: false });
  onTestFinished(async () => {
    await admin.end();
    await pgBouncer.stop();
  });
  const { hostname, port } = new URL(pgBouncer.url);
  const target = { url: pgBouncer.url, host: hostname, port: Number(port), timeout: 5_000 };
  const connect = async () => {
    const connection = closeAtEnd(await connectPostgres(target));
    return connection;
  };
  /** Returns the prepared statements of the session on the server. */
  const prepared = async () =>
    (await admin`select name, statement from pg_prepared_statements`).slice();
  return { url: pgBouncer.url, admin, connect, prepared };
}

describe.runIf(hasPgBouncer)('a connection through an installed PgBouncer', () => {
  it('prepares statements only when PgBouncer supports prepared statements', async () => {
    const { connect, prepared } = await startPooler(1);
    const { query } = await connect();
    for (const value of ['1', '2']) {
      expect((await query('select $1::int + 1', [value])).rows).toEqual([[Number(value) + 1]]);
    }
    const statement = 'select $1::int + 1';
    const ofPooler = { name: expect.stringMatching(/^PGBOUNCER_/), statement };
    if (keepsPreparedStatements) expect(await prepared()).toContainEqual(ofPooler);
    else expect(await prepared()).toEqual([]);
  });

  it('runs the same statements in any session of PgBouncer', async () => {
    const { admin, connect } = await startPooler(2);
    const connections = [await connect(), await connect(), await connect()];
    const pids = new Set<unknown>();
    for (let i = 0; i < 5; i++) {
      // A transaction occupies one of the two sessions, so the connections must use the other session.
      const isHeld = i % 2 === 0;
      if (isHeld) await admin.unsafe('begin');
      if (isHeld) await admin.unsafe('select 1');
      for (const { query } of connections) {
        const { rows } = await query('select $1::int, pg_backend_pid()', [String(i)]);
        const [[value, pid] = []] = rows as [number, number][];
        expect(value).toBe(i);
        pids.add(pid);
      }
      if (isHeld) await admin.unsafe('commit');
    }
    expect(pids.size).toBe(2);
  });
});
