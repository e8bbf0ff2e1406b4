import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type DatabaseOptions, type Query, useDatabase } from './database/database.ts';
import { timeText } from './database/deadline.ts';
import { DatabaseSettingsError, explainDatabaseError } from './database/errors.ts';
import { missingColumns } from './database/migration.ts';
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
  try {
    const cancel: Cancel = (statement) => useDatabase(options, ends(statement));
    const findings = await useDatabase(options, (query) => examine(query, cancel));
    const none = 'there is no database yet: the server creates it at its first start';
    return findings ?? [{ check: 'connection', level: 'ok', message: none }];
  } catch (error) {
    const isExplained = error instanceof Error && error.name === 'DataDirectoryError';
    const isKnown = isExplained || error instanceof DatabaseSettingsError;
    const message = isKnown ? error.message : explainDatabaseError(error);
    return [{ check: 'connection', level: 'problem', message }];
  }
}

/** Cancels a statement of another session by its text. */
type Cancel = (statement: string) => Promise<unknown>;

const ends = (statement: string) => (query: Query) =>
  query(`select pg_cancel_backend(pid) from pg_stat_activity where query = $1`, [statement]);

async function examine(query: Query, cancel: Cancel): Promise<Finding[]> {
  const facts = await server(query);
  if (facts.some(({ level }) => level === 'problem')) return facts;
  const missing = await missingColumns(query);
  if (missing.length > 0) {
    const message = `the database has no ${missing.slice(0, 3).join(', ')}: start the server once as a user who may create tables`;
    return [...facts, { check: 'tables', level: 'problem', message }];
  }
  const grants = await privileges(query);
  if (grants.length > 0) return [...facts, ...grants];
  return [
    ...facts,
    ...(await cluster(query)),
    ...(await trial(query)),
    ...(await heldBack(query)),
    ...(await webhooks(query)),
    // A slow commit occupies the session, so this check is the last.
    ...(await commit(query, cancel)),
  ];
}

/** What the server is, its settings and its clock. */
async function server(query: Query): Promise<Finding[]> {
  const sentAt = Date.now();
  const [facts] = await query<Facts>(selectFacts);
  if (!facts) return [];
  const ahead = Math.round(facts.now - (sentAt + Date.now()) / 2);
  const is = `Postgres ${facts.version}`;
  return findings([
    ['connection', 'ok', true, is],
    [
      'connection',
      'problem',
      facts.isReplica,
      `${is} is a read replica: use the URL of the primary, or start the server for reads alone`,
    ],
    [
      'connection',
      'problem',
      facts.isReadOnly && !facts.isReplica,
      `${is} accepts no writes: free some room on its disk, or turn default_transaction_read_only off`,
    ],
    [
      'clock',
      'warning',
      Math.abs(ahead) > 2_000,
      `the clock of the database is ${ahead} ms ahead of this machine's clock: set both by NTP`,
    ],
    [
      'settings',
      'warning',
      facts.fsync === 'off',
      'fsync is off, so a crash of the machine can lose plants: turn it on',
    ],
    [
      'settings',
      'warning',
      facts.timeout === '0',
      `a pooler drops the store's time limits: run ALTER ROLE ${facts.role} SET statement_timeout = '60s', and SET lock_timeout = '4s'`,
    ],
  ]);
}

interface Facts {
  version: string;
  isReplica: boolean;
  isReadOnly: boolean;
  fsync: string;
  timeout: string;
  role: string;
  now: number;
}

const selectFacts = `
  select current_setting('server_version') as version, pg_is_in_recovery() as "isReplica",
    current_setting('transaction_read_only')::bool as "isReadOnly", current_setting('fsync') as fsync,
    current_setting('statement_timeout') as timeout, quote_ident(current_user) as role,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;

/** The privileges that the server needs and its user does not have. */
async function privileges(query: Query): Promise<Finding[]> {
  const rows = await query<{ grant: string }>(`
    select format('GRANT %s ON %s TO %I', string_agg(privilege, ', '), name, current_user) as grant
    from (values ('plants', 'SELECT,INSERT,UPDATE,DELETE'), ('plant_deletions', 'SELECT,INSERT,DELETE'),
      ('plant_feed', 'SELECT,UPDATE'), ('access_tokens', 'SELECT,INSERT,UPDATE'),
      ('webhooks', 'SELECT,INSERT,UPDATE,DELETE')) as needed (name, privileges)
    cross join unnest(string_to_array(privileges, ',')) as privilege
    where not has_table_privilege(to_regclass(name), privilege)
    group by name`);
  return rows.map(({ grant }) => ({
    check: 'privileges',
    level: 'problem',
    message: `a privilege is missing: run ${grant}`,
  }));
}

/** The problems of the nodes of a Citus cluster. */
async function cluster(query: Query): Promise<Finding[]> {
  const [has] = await query<{ nodes: string | null }>(
    `select to_regclass('pg_catalog.pg_dist_node')::text as nodes`,
  );
  if (!has?.nodes) return [];
  const { inspectCluster } = await import('./citus/distribute.ts');
  const problems = await inspectCluster(query);
  return problems.map((message) => ({ check: 'cluster', level: 'problem', message }));
}

/** Runs the statements of a create, a get and a delete in a transaction that is rolled back. */
async function trial(query: Query): Promise<Finding[]> {
  const id = `{${-randomInt(2 ** 47)}}`;
  const until = timeText(Date.now() + 60_000);
  const first = async (text: string, values: string[]) =>
    Object.values((await query<Record<string, unknown>>(text, values))[0] ?? {})[0];
  await query('begin');
  try {
    await query(`set local lock_timeout = '2s'`);
    // The name is long, so that a column with a shorter type causes an error.
    const name = 'doctor'.repeat(1_000);
    const inserted = await first(insertPlants, [id, `{${name}}`, '{NULL}', until]);
    const found = await first(findPlants, [id]);
    const deleted = await first(deletePlants, [id, '{NULL}', until]);
    await query('rollback');
    const isKept = inserted === id && Boolean(found);
    return findings([
      ['trial', 'ok', isKept && deleted === id, 'a create, a get and a delete work'],
      [
        'trial',
        'problem',
        inserted !== id,
        'a trigger or a rule of the table plants keeps new plants out: drop it, or correct it',
      ],
      [
        'trial',
        'problem',
        inserted === id && !found,
        'row-level security hides plants: run ALTER TABLE plants DISABLE ROW LEVEL SECURITY',
      ],
      [
        'trial',
        'problem',
        isKept && deleted !== id,
        'a trigger or a rule of the table plants prevents deletes: drop it, or correct it',
      ],
    ]);
  } catch (error) {
    await query('rollback');
    const holders = databaseCode(error) === '55P03' ? await locks(query) : [];
    return [{ check: 'trial', level: 'problem', message: explainDatabaseError(error) }, ...holders];
  }
}

/** The sessions that have locked a table of the store. */
async function locks(query: Query): Promise<Finding[]> {
  const rows = await query<{ table: string; pid: number; application: string }>(`
    select distinct relation::regclass::text as table, pg_locks.pid,
      coalesce(application_name, '') as application
    from pg_locks left join pg_stat_activity using (pid)
    where granted and relation in (to_regclass('plants'), to_regclass('plant_deletions'))
      and mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
      and pg_locks.pid <> pg_backend_pid()`);
  return rows.map(({ table, pid, application }) => ({
    check: 'locks',
    level: 'problem',
    message: `session ${pid} (${application}) has locked ${table}: wait, or run SELECT pg_terminate_backend(${pid})`,
  }));
}

/** A commit must be durable within a second. */
async function commit(query: Query, cancel: Cancel): Promise<Finding[]> {
  const [row] = await query<{ standbys: string }>(
    `select current_setting('synchronous_standby_names') as standbys`,
  );
  const statement = `select pg_logical_emit_message(true, 'plant-store', '${randomUUID()}')`;
  const committed = query(statement);
  committed.catch(() => {});
  const isFast = await Promise.race([committed.then(() => true), setTimeout(1_000, false)]);
  // Otherwise the session would wait for the standby, and hold the feed back, after the doctor has ended.
  if (!isFast) await cancel(statement).catch(() => {});
  const standby = row?.standbys ? `, or no standby of ${row.standbys} responds` : '';
  const message = `a commit takes longer than a second: the disk of the database is slow${standby}`;
  return findings([['commit', 'problem', !isFast, message]]);
}

/** The transaction that hides all later changes from followers of the feed. */
async function heldBack(query: Query): Promise<Finding[]> {
  const rows = await query<{ holder: string; seconds: number }>(`
    select 'session ' || pid as holder, extract(epoch from now() - xact_start)::int as seconds
    from pg_stat_activity
    where backend_xid = pg_snapshot_xmin(pg_current_snapshot())::xid and pid <> pg_backend_pid()
    union all
    select 'the prepared transaction ' || quote_literal(gid), extract(epoch from now() - prepared)::int
    from pg_prepared_xacts where transaction = pg_snapshot_xmin(pg_current_snapshot())::xid`);
  return rows.flatMap(({ holder, seconds }) =>
    findings([
      [
        'feed',
        'warning',
        seconds >= 10,
        `a transaction of ${holder} has run for ${seconds} s, and hides all later changes: end it (SELECT pg_terminate_backend, or ROLLBACK PREPARED)`,
      ],
    ]),
  );
}

async function webhooks(query: Query): Promise<Finding[]> {
  const rows = await query<{ name: string; failures: number; error: string | null }>(`
    select name, failures, last_attempt ->> 'error' as error from webhooks
    where failures > 0 or paused_because is not null order by name`);
  return rows.map(({ name, failures, error }) => ({
    check: 'webhooks',
    level: 'warning',
    message: `the last ${failures} attempts of ${JSON.stringify(name)} failed (${error}): correct the endpoint, and resume the webhook`,
  }));
}

type Possible = [check: string, level: Finding['level'], isTrue: boolean, message: string];

/** Returns the findings that are true. */
function findings(possible: readonly Possible[]): Finding[] {
  return possible.flatMap(([check, level, isTrue, message]) =>
    isTrue ? { check, level, message } : [],
  );
}
