import type { Question } from './hazard.ts';

/** The store's own time limit for a statement, in milliseconds. */
const neededTime = 4_500;

/** The number of connections that a process may open, including the connection for the migration. */
const neededConnections = 7;

/**
 * An SQL expression for the value of a setting in milliseconds. The database may evaluate the expression for
 * every setting. The `case` prevents the cast of a value that is not a number.
 */
const milliseconds = "case when unit = 'ms' then setting::bigint end";

/** Finds limits that somebody has set for the sessions of the store. */
export const sessionQuestions: readonly Question[] = [
  {
    check: 'sessions',
    level: 'warning',
    // A session without a pooler has the store's own time limit, unless the URL sets another limit. A session
    // behind a pooler lacks the store's time limit.
    select: `
      select quote_ident(session_user) as name, setting as value from pg_settings
      where name = 'statement_timeout' and ${milliseconds} between 1 and ${neededTime - 1}`,
    describe: ({ name, value }) =>
      `the database cancels each statement after ${value} ms, and its request gets 50300: run ALTER ROLE ` +
      `${name} SET statement_timeout = '5s', and remove it from DATABASE_URL`,
  },
  {
    check: 'sessions',
    level: 'problem',
    // A direct session has the values that the store sets. A session of a pooler has the values of its role.
    select: `
      select quote_ident(session_user) as name, name || ' = ' || quote_literal(boot_val) as value
      from pg_settings
      where name = 'client_min_messages' and setting = 'error'
        or name in ('array_nulls', 'bytea_output', 'default_transaction_isolation') and setting <> boot_val`,
    describe: ({ name, value }) =>
      `the store relies on ${value}, and its sessions have another value, which the pooler does not let it ` +
      `change: run ALTER ROLE ${name} SET ${value}`,
  },
  {
    check: 'sessions',
    level: 'warning',
    // Transactions of the store are never idle for long, so a long time limit for idle transactions cannot
    // harm the store.
    select: `
      select quote_ident(session_user) as name, name as value from pg_settings
      where ${milliseconds} > 0 and (name in ('idle_session_timeout', 'transaction_timeout')
        or name = 'idle_in_transaction_session_timeout' and ${milliseconds} < ${neededTime})`,
    describe: ({ name, value }) =>
      `${value} is set, so the database may end a session of the store, whose request gets 50300: run ALTER ` +
      `ROLE ${name} SET ${value} = 0`,
  },
  {
    check: 'sessions',
    level: 'warning',
    select: `
      select owner as name, connections::text as value
      from (
        select 'ROLE ' || quote_ident(rolname), rolconnlimit from pg_roles
        where rolname = session_user and not rolsuper
        union all
        select 'DATABASE ' || quote_ident(datname), datconnlimit from pg_database
        where datname = current_database()
      ) as limits (owner, connections)
      where connections between 0 and ${neededConnections - 1}`,
    describe: ({ name, value }) =>
      `${name} may have ${value} connections, and each process of the server opens up to ${neededConnections}, ` +
      `so requests wait: run ALTER ${name} CONNECTION LIMIT -1`,
  },
];
