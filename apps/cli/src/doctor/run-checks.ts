import {
  type DatabaseState,
  inspectDatabase,
  PlantStoreError,
  type PlantStoreOptions,
} from '@plant-store/core';
import { rootMessage } from '../command-line/errors.ts';
import { readSettings } from '../command-line/settings.ts';

/** What a check has found: nothing, something to know, or something to mend. */
export interface Finding {
  check: 'configuration' | 'connection' | 'migrations' | 'clock' | 'durability';
  level: 'ok' | 'warning' | 'problem';
  message: string;
}

/** Seconds between the clocks of two machines that nobody minds. */
const clockTolerance = 2;

/** Checks everything that can be checked without changing it; what depends on a failure is left out. */
export async function examine(): Promise<Finding[]> {
  let settings: PlantStoreOptions;
  try {
    settings = readSettings();
  } catch (error) {
    return [{ check: 'configuration', level: 'problem', message: messageOf(error) }];
  }
  const where = describe(settings);
  const configuration: Finding = { check: 'configuration', level: 'ok', message: where };
  return [configuration, ...(await examineDatabase(settings))];
}

async function examineDatabase(settings: PlantStoreOptions): Promise<Finding[]> {
  let state: DatabaseState | undefined;
  try {
    state = await inspectDatabase(settings);
  } catch (error) {
    return [{ check: 'connection', level: 'problem', message: messageOf(error) }];
  }
  if (!state) {
    const message = 'there is no database yet: it is made when the store is first opened';
    return [{ check: 'connection', level: 'ok', message }];
  }
  const isEmbedded = 'dataDirectory' in settings;
  return [
    connection(state),
    migrations(state),
    clock(state),
    ...(isEmbedded ? [embeddedDurability] : durability(state)),
  ];
}

function messageOf(error: unknown): string {
  // What the store says of its database is meant for clients, and does not tell enough.
  if (!(error instanceof PlantStoreError))
    return String(error instanceof Error ? error.message : error);
  return `${rootMessage(error)}: check DATABASE_URL and that it is running`;
}

/** Where the store is; a URL without its user, password and parameters. */
function describe(settings: PlantStoreOptions): string {
  if ('dataDirectory' in settings) return `the embedded database in ${settings.dataDirectory}`;
  const [, place] = /^\w+:\/\/(?:.*@)?([^?]*)/s.exec(settings.databaseUrl) ?? [];
  return `the Postgres at ${place}`;
}

function connection({ version, encoding, isReadOnly }: DatabaseState): Finding {
  const check = 'connection';
  const it = `Postgres ${version}, ${encoding}`;
  if (isReadOnly) {
    const message = `${it}, is read-only: connect to the primary, or make it writable`;
    return { check, level: 'problem', message };
  }
  if (encoding !== 'UTF8') {
    const message = `${it}: text that this encoding lacks is refused, move to a database in UTF8`;
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: it };
}

function migrations({ missingMigrations, isNewer }: DatabaseState): Finding {
  const check = 'migrations';
  if (isNewer) {
    const message = 'a later version of the store was here: update this one';
    return { check, level: 'warning', message };
  }
  if (missingMigrations > 0) {
    const message = `${missingMigrations} are missing: start the server, which applies them`;
    return { check, level: 'warning', message };
  }
  return { check, level: 'ok', message: 'all are applied' };
}

function clock({ clockAhead }: DatabaseState): Finding {
  const check = 'clock';
  const seconds = Math.abs(clockAhead) / 1000;
  if (seconds <= clockTolerance) {
    return { check, level: 'ok', message: "the database's and this machine's agree" };
  }
  const way = clockAhead > 0 ? 'ahead of' : 'behind';
  const message =
    `the database's is ${seconds.toFixed(1)} s ${way} this machine's: ` +
    'set both by NTP, since tokens expire by them';
  return { check, level: 'warning', message };
}

const embeddedDurability: Finding = {
  check: 'durability',
  level: 'warning',
  message:
    'the embedded database may lose plants in a power cut: set DATABASE_URL where that matters',
};

function durability({ fsync, fullPageWrites, synchronousCommit }: DatabaseState): Finding[] {
  const risks = [
    fsync === 'off' && 'fsync is off, a crash of the machine may destroy the database',
    fullPageWrites === 'off' && 'full_page_writes is off, a power cut may damage it',
    synchronousCommit === 'off' && 'synchronous_commit is off, a crash may lose the last plants',
  ].filter((risk) => risk !== false);
  const check = 'durability';
  if (risks.length === 0) {
    const message = `fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}`;
    return [{ check, level: 'ok', message }];
  }
  return risks.map((risk) => ({ check, level: 'problem', message: `${risk}: set it to on` }));
}
