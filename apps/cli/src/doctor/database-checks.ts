import {
  type DatabaseState,
  explainDatabaseError,
  missingGrants,
  serverNeeds,
} from '@plant-store/core/operator';
import { lockAdvice, tableAdvice } from '../command-line/database-errors.ts';
import type { Finding } from './finding.ts';

export function databaseChecks(state: DatabaseState): Finding[] {
  return [
    connection(state),
    ...pooler(state),
    ...hosts(state),
    migrations(state),
    ...locks(state),
    ...lateCommits(state),
    clock(state),
  ];
}

function connection({ version, encoding, isReadOnly, isReplica }: DatabaseState): Finding {
  const check = 'connection';
  const postgres = `Postgres ${version}, ${encoding}`;
  if (isReplica || isReadOnly) {
    const kind = isReplica ? 'a read replica' : 'read-only';
    const message =
      `${postgres}, is ${kind}: get, list, count and export work; for the server and the other ` +
      'commands, connect to the primary, or make the database writable';
    return { check, level: 'warning', message };
  }
  if (encoding !== 'UTF8') {
    const message =
      `${postgres}: the store rejects characters that this encoding lacks, ` +
      'so move to a database with the encoding UTF8';
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: postgres };
}

function pooler({ poolerWarning }: DatabaseState): Finding[] {
  return poolerWarning ? [{ check: 'connection', level: 'warning', message: poolerWarning }] : [];
}

function hosts({ unreachableHosts }: DatabaseState): Finding[] {
  return unreachableHosts.map(({ name, error }) => {
    const message = `${name}: ${explainDatabaseError(error)}`;
    return { check: 'hosts', level: 'warning', message };
  });
}

function migrations({ isKnown, missingMigrations, isNewer, privileges }: DatabaseState): Finding {
  const check = 'migrations';
  if (isNewer) {
    const message = 'a newer version of the store has migrated the database: update this version';
    return { check, level: 'warning', message };
  }
  if (!isKnown && privileges.length > 0) {
    const message = 'this user cannot read the list of migrations, so only the tables are checked';
    return { check, level: 'ok', message };
  }
  if (missingMigrations > 0) {
    const message = `${missingMigrations} are missing: start the server, which applies them`;
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: 'all are applied' };
}

function locks({ locks }: DatabaseState): Finding[] {
  return locks.map((lock) => ({ check: 'locks', level: 'warning', message: lockAdvice(lock) }));
}

function lateCommits({ lateCommits }: DatabaseState): Finding[] {
  return lateCommits.map(({ pid, seconds, waitsFor }) => {
    const slow = waitsFor === 'SyncRep' ? 'the synchronous standby' : 'the disk of the database';
    const message =
      `session ${pid} has been in a commit for ${seconds} s (${waitsFor}), and its requests got error ` +
      `50300: check ${slow}. The commit may still succeed`;
    return { check: 'commits', level: 'warning', message };
  });
}

/** The seconds by which the clocks of two machines may differ without harm. */
const clockTolerance = 2;

function clock({ clockAhead }: DatabaseState): Finding {
  const check = 'clock';
  const seconds = Math.abs(clockAhead) / 1000;
  if (seconds <= clockTolerance) {
    return { check, level: 'ok', message: "the database's clock agrees with this machine's" };
  }
  const direction = clockAhead > 0 ? 'ahead of' : 'behind';
  const message =
    `the database's clock is ${seconds.toFixed(1)} s ${direction} this machine's: ` +
    "set both by NTP, because access tokens expire by the database's clock, and JWTs by this machine's";
  return { check, level: 'warning', message };
}

/** Checks the tables, and the user's privileges on the tables. */
export function tableChecks(state: DatabaseState): Finding[] {
  return [...tables(state), ...privileges(state)];
}

function tables(state: DatabaseState): Finding[] {
  const check = 'tables';
  const advice = tableAdvice(state);
  if (advice.length === 0) {
    const message = 'all tables have the columns that this version needs';
    return [{ check, level: 'ok', message }];
  }
  const level =
    state.missingMigrations > 0 && state.privileges.length === 0 ? 'warning' : 'problem';
  return advice.map(({ what, remedy }) => ({ check, level, message: `${what}: ${remedy}` }));
}

function privileges({ privileges, isReadOnly }: DatabaseState): Finding[] {
  const check = 'privileges';
  const cannotRead = missingGrants(privileges, { plants: ['SELECT'] });
  if (cannotRead.length > 0) {
    const message = `this user cannot read plants: run ${cannotRead.join('; ')}`;
    return [{ check, level: 'problem', message }];
  }
  if (privileges.length === 0 || isReadOnly) return [];
  const missing = missingGrants(privileges, serverNeeds);
  if (missing.length === 0) {
    return [{ check, level: 'ok', message: 'this user may do all that the server does' }];
  }
  const message = `this user can read plants, but the server needs more: run ${missing.join('; ')}`;
  return [{ check, level: 'warning', message }];
}

/** Names the webhooks whose endpoints do not accept the changes. */
export function webhookChecks({ webhooks }: DatabaseState): Finding[] {
  return webhooks.map(({ name, failures, isPaused, error }) => {
    const state = isPaused ? 'is paused' : `has failed ${failures} times`;
    const remedy = isPaused
      ? 'correct the endpoint, and run plant-store webhook resume'
      : 'plant-store webhook show has the last attempts';
    const message = `the webhook ${JSON.stringify(name)} ${state} (${error}): ${remedy}`;
    return { check: 'webhooks', level: 'warning', message };
  });
}
