import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type DatabaseOptions, type Query, useDatabase } from './database/database.ts';
import { timeText } from './database/deadline.ts';
import {
  DatabaseSettingsError,
  DataDirectoryError,
  explainDatabaseError,
} from './database/errors.ts';
import { missingTables } from './database/migration.ts';
import { databaseCode } from './plant-store-error.ts';
import { deletePlants, findPlants, insertPlants } from './plants/statements.ts';

/** The result of one check: what is the case, and what to do if this is not ok. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly message: string;
}

/**
 * Examines a database for its operator: says what it is, and tries the store's own statements on it. Each
 * statement is rolled back, so the function changes nothing.
 */
export async function runDoctor(options: DatabaseOptions): Promise<Finding[]> {
  const cancel = (statement: string) =>
    useDatabase(options, (query) =>
      query('select pg_cancel_backend(pid) from pg_stat_activity where query = $1', [statement]),
    );
  try {
    const findings = await useDatabase(options, (query) => examine(query, cancel));
    const none = 'there is no database yet: the server creates it at its first start';
    return findings ?? [ok('connection', none)];
  } catch (error) {
    const isExplained =
      error instanceof DataDirectoryError || error instanceof DatabaseSettingsError;
    return [problem('connection', isExplained ? error.message : explainDatabaseError(error))];
  }
}

const finding = (level: Finding['level']) => (check: string, message: string) => ({
  ...{ check, level, message },
});
const [ok, warning, problem] = [finding('ok'), finding('warning'), finding('problem')];

async function examine(
  query: Query,
  cancel: (statement: string) => Promise<unknown>,
): Promise<Finding[]> {
  const found = await examineServer(query);
  const hasProblem = () => found.some(({ level }) => level === 'problem');
  if (!hasProblem()) found.push(...(await examineTables(query)));
  if (hasProblem()) return found;
  return [
    ...found,
    ...(await examineCluster(query)),
    ...(await tryStatements(query)),
    ...(await findHolder(query)),
    ...(await findFailedWebhooks(query)),
    // A slow commit occupies the session, so this check is the last.
    ...(await tryCommit(query, cancel)),
  ];
}

/** Says what the server is, and checks its settings and its clock. */
async function examineServer(query: Query): Promise<Finding[]> {
  const sentAt = Date.now();
  const [facts] = await query<ServerFacts>(`
    select current_setting('server_version') as version, pg_is_in_recovery() as "isReplica",
      current_setting('transaction_read_only')::bool as "isReadOnly",
      current_setting('fsync') as fsync, current_setting('statement_timeout') as timeout,
      quote_ident(current_user) as role,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`);
  if (!facts) return [];
  const { version, role, isReplica, isReadOnly, fsync, timeout, now } = facts;
  const is = `Postgres ${version}`;
  const replica =
    'is a read replica, which serves only reads: use the URL of the primary for writes';
  const readOnly = 'free some room on its disk, or turn default_transaction_read_only off';
  const found: Finding[] = [ok('connection', is)];
  if (isReplica) found.push(problem('connection', `${is} ${replica}`));
  else if (isReadOnly) found.push(problem('connection', `${is} accepts no writes: ${readOnly}`));
  const ahead = Math.round(now - (sentAt + Date.now()) / 2);
  if (Math.abs(ahead) > 2_000) {
    const clock = `the clock of the database is ${ahead} ms ahead of this machine's clock`;
    found.push(warning('clock', `${clock}: set both by NTP`));
  }
  if (fsync === 'off') {
    const message = 'fsync is off, so a crash of the machine can lose plants: turn it on';
    found.push(warning('settings', message));
  }
  if (timeout === '0') {
    const alter = `ALTER ROLE ${role} SET statement_timeout = '60s', and SET lock_timeout = '4s'`;
    found.push(warning('settings', `a pooler drops the store's time limits: run ${alter}`));
  }
  return found;
}

interface ServerFacts extends Record<'version' | 'fsync' | 'timeout' | 'role', string> {
  isReplica: boolean;
  isReadOnly: boolean;
  now: number;
}

/** Finds missing tables, and the privileges that the server needs and its user does not have. */
async function examineTables(query: Query): Promise<Finding[]> {
  const missing = await missingTables(query);
  if (missing.length > 0) {
    const advice = 'start the server once as a user who may create tables';
    return [problem('tables', `the database has no ${missing.join(', ')}: ${advice}`)];
  }
  const rows = await query<{ grant: string }>(`
    select format('GRANT %s ON %s TO %I', string_agg(privilege, ', '), name, current_user) as grant
    from (values ('plants', 'SELECT,INSERT,UPDATE,DELETE'), ('plant_deletions', 'SELECT,INSERT,DELETE'),
      ('plant_feed', 'SELECT,UPDATE'), ('access_tokens', 'SELECT,INSERT,UPDATE'),
      ('webhooks', 'SELECT,INSERT,UPDATE,DELETE')) as needed (name, privileges)
    cross join unnest(string_to_array(privileges, ',')) as privilege
    where not has_table_privilege(to_regclass(name), privilege)
    group by name`);
  return rows.map(({ grant }) => problem('privileges', `a privilege is missing: run ${grant}`));
}

/** Finds the problems of the nodes of a Citus cluster. */
async function examineCluster(query: Query): Promise<Finding[]> {
  const [has] = await query<{ nodes: string | null }>(
    `select to_regclass('pg_catalog.pg_dist_node')::text as nodes`,
  );
  if (!has?.nodes) return [];
  const { inspectCluster } = await import('./citus/distribute.ts');
  return (await inspectCluster(query)).map((message) => problem('cluster', message));
}

/** Runs the statements of a create, a get and a delete in a transaction that is rolled back. */
async function tryStatements(query: Query): Promise<Finding[]> {
  const id = `{${-randomInt(2 ** 47)}}`;
  const until = timeText(Date.now() + 60_000);
  const first = async (text: string, values: string[]) =>
    Object.values((await query<Record<string, unknown>>(text, values))[0] ?? {})[0];
  await query('begin');
  try {
    await query(`set local lock_timeout = '2s'`);
    // The name is long, so that a column with a shorter type causes an error.
    const name = 'doctor'.repeat(1_000);
    const isInserted = (await first(insertPlants, [id, `{${name}}`, '{NULL}', until])) === id;
    const isFound = Boolean(await first(findPlants, [id]));
    const isDeleted = (await first(deletePlants, [id, '{NULL}', until])) === id;
    await query('rollback');
    if (isInserted && isFound && isDeleted) {
      return [ok('trial', 'a create, a get and a delete work')];
    }
    const trigger = (what: string) =>
      problem('trial', `a trigger or a rule of the table plants ${what}: drop it, or correct it`);
    if (!isInserted) return [trigger('keeps new plants out')];
    if (isFound) return [trigger('prevents deletes')];
    const advice = 'run ALTER TABLE plants DISABLE ROW LEVEL SECURITY';
    return [problem('trial', `row-level security hides plants: ${advice}`)];
  } catch (error) {
    await query('rollback');
    const holders = databaseCode(error) === '55P03' ? await findLocks(query) : [];
    return [problem('trial', explainDatabaseError(error)), ...holders];
  }
}

/** Finds the sessions that have locked a table of the store. */
async function findLocks(query: Query): Promise<Finding[]> {
  const rows = await query<{ table: string; pid: number; application: string }>(`
    select distinct relation::regclass::text as table, pg_locks.pid,
      coalesce(application_name, '') as application
    from pg_locks left join pg_stat_activity using (pid)
    where granted and relation in (to_regclass('plants'), to_regclass('plant_deletions'))
      and mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
      and pg_locks.pid <> pg_backend_pid()`);
  return rows.map(({ table, pid, application }) => {
    const advice = `wait, or run SELECT pg_terminate_backend(${pid})`;
    return problem('locks', `session ${pid} (${application}) has locked ${table}: ${advice}`);
  });
}

/** Finds a transaction that hides all later changes from followers of the feed. */
async function findHolder(query: Query): Promise<Finding[]> {
  const rows = await query<{ holder: string; seconds: number }>(`
    select * from (
      select 'session ' || pid as holder, extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity
      where backend_xid = pg_snapshot_xmin(pg_current_snapshot())::xid and pid <> pg_backend_pid()
      union all
      select 'the prepared transaction ' || quote_literal(gid), extract(epoch from now() - prepared)::int
      from pg_prepared_xacts where transaction = pg_snapshot_xmin(pg_current_snapshot())::xid
    ) as holders where seconds >= 10`);
  return rows.map(({ holder, seconds }) => {
    const what = `a transaction of ${holder} has run for ${seconds} s, and hides all later changes`;
    return warning('feed', `${what}: end it (SELECT pg_terminate_backend, or ROLLBACK PREPARED)`);
  });
}

async function findFailedWebhooks(query: Query): Promise<Finding[]> {
  const rows = await query<{ name: string; failures: number; error: string | null }>(`
    select name, failures, last_attempt ->> 'error' as error from webhooks
    where failures > 0 or paused_because is not null order by name`);
  return rows.map(({ name, failures, error }) => {
    const what = `the last ${failures} attempts of ${JSON.stringify(name)} failed (${error})`;
    return warning('webhooks', `${what}: correct the endpoint, and resume the webhook`);
  });
}

/** Checks that a commit is durable within a second. */
async function tryCommit(
  query: Query,
  cancel: (statement: string) => Promise<unknown>,
): Promise<Finding[]> {
  const [row] = await query<{ names: string }>(
    `select current_setting('synchronous_standby_names') as names`,
  );
  const statement = `select pg_logical_emit_message(true, 'plant-store', '${randomUUID()}')`;
  const committed = query(statement).then(() => true);
  committed.catch(() => {});
  if (await Promise.race([committed, setTimeout(1_000, false)])) return [];
  // Otherwise the session would wait for the standby, and hold the feed back, after the doctor has ended.
  await cancel(statement).catch(() => {});
  const standby = row?.names ? `, or no standby of ${row.names} responds` : '';
  const what = 'a commit takes longer than a second: the disk of the database is slow';
  return [problem('commit', `${what}${standby}`)];
}
