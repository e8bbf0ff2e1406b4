import type { DatabaseState } from '@plant-store/core';
import type { Finding } from './finding.ts';

export function databaseChecks(state: DatabaseState): Finding[] {
  return [connection(state), migrations(state), clock(state)];
}

function connection({ version, encoding, isReadOnly }: DatabaseState): Finding {
  const check = 'connection';
  const postgres = `Postgres ${version}, ${encoding}`;
  if (isReadOnly) {
    const message = `${postgres}, is read-only: connect to the primary, or make the database writable`;
    return { check, level: 'problem', message };
  }
  if (encoding !== 'UTF8') {
    const message =
      `${postgres}: the store rejects characters that this encoding lacks, ` +
      'so move to a database with the encoding UTF8';
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: postgres };
}

function migrations({ missingMigrations, isNewer }: DatabaseState): Finding {
  const check = 'migrations';
  if (isNewer) {
    const message = 'a newer version of the store has migrated the database: update this version';
    return { check, level: 'warning', message };
  }
  if (missingMigrations > 0) {
    const message = `${missingMigrations} are missing: start the server, which applies them`;
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: 'all are applied' };
}

/** Seconds. A smaller difference between two machines' clocks does no harm. */
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
    'set both by NTP, because access tokens expire by them';
  return { check, level: 'warning', message };
}
