import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Query } from './database/database.ts';
import { DatabaseSettingsError, explainDatabaseError } from './database/errors.ts';
import { missingTables } from './database/migration.ts';
import { databaseCode } from './plant-store-error.ts';
import { columnArrays } from './plants/content.ts';
import { deletePlants, findPlants, insertPlants } from './plants/statements.ts';

/** A result of a check. Unless the level is `ok`, the message contains advice. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly message: string;
}

/**
 * Examines a Postgres for its operator, and tries the store's own statements. Changes no rows. Ends after the
 * first check that finds a problem, because later checks would find only consequences of this problem.
 */
export async function runDoctor({ databaseUrl }: { databaseUrl: string }): Promise<Finding[]> {
  const { usePostgres } = await import('./database/postgres.ts');
  const useSession: UseSession = (use) => usePostgres(databaseUrl, use);
  const found: Finding[] = [];
  try {
    await useSession(async (query) => {
      for (const check of checks) {
        found.push(...(await check(query, useSession)));
        if (found.some(({ level }) => level === 'problem')) return;
      }
    });
  } catch (error) {
    const isExplained = error instanceof DatabaseSettingsError;
    found.push(problem('connection', isExplained ? error.message : explainDatabaseError(error)));
  }
  return found;
}

type UseSession = (use: (query: Query) => Promise<unknown>) => Promise<unknown>;

type Check = (query: Query, useSession: UseSession) => Promise<Finding[]>;

const problem = (check: string, message: string): Finding => ({ check, level: 'problem', message });

const checks: readonly Check[] = [
  (query) =>
    query(`
    select 'connection' as check, 'ok' as level, 'Postgres ' || current_setting('server_version') as message
    union all
    select 'connection', 'problem', case when pg_is_in_recovery()
      then 'a read replica serves only reads: use the URL of the primary for writes'
      else 'the database accepts no writes: free some room on its disk, or turn '
        || 'default_transaction_read_only off' end
    where current_setting('transaction_read_only')::bool
    union all
    select 'clock', 'warning', format('the database is %s ms ahead of this machine: set both clocks by NTP', ahead)
    from (select (extract(epoch from clock_timestamp()) * 1000)::int8 - ${Date.now()} as ahead) as clock
    where abs(ahead) > 2000
    union all
    select 'settings', 'warning', format('a pooler drops the store''s time limits: run ALTER ROLE %I SET '
      || 'statement_timeout = ''60s'', and SET lock_timeout = ''4s''', current_user)
    where current_setting('statement_timeout') = '0'`),
  async (query) => {
    const missing = await missingTables(query);
    const advice = 'start the server once as a user who may create tables';
    return missing.map((name) => problem('tables', `the database has no table ${name}: ${advice}`));
  },
  (query) =>
    query(`
    select 'privileges' as check, 'problem' as level, format('a privilege is missing: run GRANT %s ON %s TO %I',
      string_agg(privilege, ', '), name, current_user) as message
    from (values ('plants', 'SELECT,INSERT,UPDATE,DELETE'), ('plant_deletions', 'SELECT,INSERT,DELETE'),
      ('plant_feed', 'SELECT,UPDATE'), ('access_tokens', 'SELECT,INSERT,UPDATE'),
      ('webhooks', 'SELECT,INSERT,UPDATE,DELETE')) as needed (name, privileges)
    cross join unnest(string_to_array(privileges, ',')) as privilege
    where not has_table_privilege(to_regclass(name), privilege)
    group by name`),
  examineCluster,
  tryStatements,
  // A running transaction that has written hides all later changes from followers of the feed.
  (query) =>
    query(`
    select 'feed' as check, 'warning' as level, format('a transaction of %s has run for %s s, and hides all '
      || 'later changes: end it (SELECT pg_terminate_backend, or ROLLBACK PREPARED)', holder, seconds) as message
    from (
      select 'session ' || pid as holder, extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity
      where backend_xid = pg_snapshot_xmin(pg_current_snapshot())::xid and pid <> pg_backend_pid()
      union all
      select 'the prepared transaction ' || quote_literal(gid), extract(epoch from now() - prepared)::int
      from pg_prepared_xacts where transaction = pg_snapshot_xmin(pg_current_snapshot())::xid
    ) as holders where seconds >= 10`),
  tryCommit, // This is the last check, because a slow commit occupies the session.
];

/** Selects the sessions whose locks on `plants` or `plant_deletions` stop writes. */
const selectLocks = `
  select distinct 'locks' as check, 'problem' as level, format('session %s (%s) has locked %s: wait, or run '
    || 'SELECT pg_terminate_backend(%1$s)', pid, application_name, relation::regclass) as message
  from pg_locks left join pg_stat_activity using (pid)
  where granted and relation in (to_regclass('plants'), to_regclass('plant_deletions'))
    and mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
    and pid <> pg_backend_pid()`;

async function examineCluster(query: Query): Promise<Finding[]> {
  const [cluster] = await query("select where to_regclass('pg_catalog.pg_dist_node') is not null");
  if (!cluster) return [];
  const { inspectCluster } = await import('./citus/distribute.ts');
  return (await inspectCluster(query)).map((message) => problem('cluster', message));
}

/** Runs the statements of a create, a get and a delete in a transaction that is rolled back. */
async function tryStatements(query: Query): Promise<Finding[]> {
  // The name is long, so that a column with a shorter type causes an error.
  const plant = { id: -BigInt(randomInt(2 ** 47)), name: 'doctor'.repeat(1_000) };
  const id = `{${plant.id}}`;
  const until = new Date(Date.now() + 60_000).toISOString();
  const run = async (text: string, ...values: string[]) =>
    Object.values((await query<Record<string, unknown>>(text, values))[0] ?? {})[0];
  await query(`begin; set local lock_timeout = '2s'`);
  try {
    const isCreated = (await run(insertPlants, ...columnArrays([plant]), until)) === id;
    const isFound = Boolean(await run(findPlants, id));
    const isDeleted = (await run(deletePlants, id, '{NULL}', until)) === id;
    if (isCreated && isFound && isDeleted) {
      return [{ check: 'trial', level: 'ok', message: 'a create, a get and a delete work' }];
    }
    const what = !isCreated ? 'stops creates' : isFound ? 'stops deletes' : 'hides plants';
    const cause = 'a trigger, a rule or row-level security of the table plants';
    return [problem('trial', `${cause} ${what}: drop it, or correct it`)];
  } catch (error) {
    await query('rollback');
    const locks = databaseCode(error) === '55P03' ? await query<Finding>(selectLocks) : [];
    return [problem('trial', explainDatabaseError(error)), ...locks];
  } finally {
    await query('rollback');
  }
}

/** Checks that a commit is durable within a second. */
async function tryCommit(query: Query, useSession: UseSession): Promise<Finding[]> {
  const [row] = await query<{ names: string }>(
    `select current_setting('synchronous_standby_names') as names`,
  );
  const statement = `select pg_logical_emit_message(true, 'plant-store', '${randomUUID()}')`;
  const committed = query(statement).then(() => true);
  committed.catch(() => {});
  if (await Promise.race([committed, setTimeout(1_000, false)])) return [];
  // Without `pg_cancel_backend`, the commit would wait after the end of `runDoctor`, and hide later changes.
  await useSession((other) =>
    other('select pg_cancel_backend(pid) from pg_stat_activity where query = $1', [statement]),
  ).catch(() => {});
  const standby = row?.names ? `, or no standby of ${row.names} responds` : '';
  const what = 'a commit takes longer than a second: the disk of the database is slow';
  return [problem('commit', `${what}${standby}`)];
}
