import { PlantStoreError } from '@plant-store/core';
import {
  type DatabaseState,
  explainDatabaseError,
  inspectDatabase,
  missingGrants,
  serverNeeds,
} from '@plant-store/core/operator';
import type { Env } from '../env.ts';

/** The result of one check. */
export interface Finding {
  /** The name of the check, in one word. */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  /** What is the case, and what to do if this is not ok. */
  readonly message: string;
}

/** Checks the database of the store. */
export async function runDoctor(env: Env): Promise<Finding[]> {
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = env;
  const options = databaseUrl ? { databaseUrl } : { dataDirectory };
  try {
    const state = await inspectDatabase({ ...options, trial: true });
    if (state) return findings(state);
    return [
      {
        check: 'connection',
        level: 'ok',
        message: 'there is no database yet: the server creates it',
      },
    ];
  } catch (error) {
    const message = error instanceof PlantStoreError ? explainDatabaseError(error) : String(error);
    return [{ check: 'connection', level: 'problem', message }];
  }
}

function findings(state: DatabaseState): Finding[] {
  const { version, isReplica, isReadOnly, missingMigrations, privileges, feed } = state;
  const { tableFaults, locks, webhooks, clockAhead } = state;
  const warnings = (check: string, messages: string[]): Finding[] =>
    messages.map((message) => ({ check, level: 'warning', message }));
  const readOnly = `Postgres ${version} accepts no writes: connect to the primary`;
  const isWritable = !isReplica && !isReadOnly;
  const oldest = feed?.oldest;
  return [
    ...(isWritable
      ? [{ check: 'connection', level: 'ok', message: `Postgres ${version}` } as const]
      : warnings('connection', [readOnly])),
    ...warnings('migrations', missingMigrations > 0 ? ['some are missing: start the server'] : []),
    ...(missingMigrations > 0
      ? []
      : tableFaults.map(({ what, remedy }) => {
          return { check: 'tables', level: 'problem', message: `${what}: ${remedy}` } as const;
        })),
    ...warnings(
      'privileges',
      missingGrants(privileges, serverNeeds).map((grant) => `one is missing: run ${grant}`),
    ),
    ...warnings(
      'locks',
      locks.map(({ table, pid }) => {
        return `the table ${table} is locked: run SELECT pg_terminate_backend(${pid}), or wait`;
      }),
    ),
    ...warnings(
      'clock',
      Math.abs(clockAhead) > 2_000
        ? [`the clock of the database differs by ${clockAhead} ms: set both clocks by NTP`]
        : [],
    ),
    ...warnings(
      'feed',
      oldest && (oldest.age ?? 0) > 10
        ? [
            `the transaction of process ${oldest.pid ?? oldest.prepared} hides all later changes: end it`,
          ]
        : [],
    ),
    ...warnings(
      'webhooks',
      webhooks.map(({ name, failures, error }) => {
        return `${JSON.stringify(name)} failed ${failures} times (${error}): see webhook show`;
      }),
    ),
  ];
}
