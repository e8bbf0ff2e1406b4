import { type ChildProcess, execFile } from 'node:child_process';
import { chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atExit } from './at-exit.ts';
import { type Binaries, postgresBinaries } from './binaries.ts';
import { freePort } from './free-port.ts';
import { postgresProcess } from './postgres-process.ts';
import { type User, unprivilegedUser } from './unprivileged-user.ts';
import { windowsPostgres } from './windows-postgres.ts';

/** A real Postgres of its own, on a free port, with its data in the system's temporary directory. */
export interface TestPostgres {
  /** The URL of its maintenance database. */
  readonly url: string;
  /** The server's process, for tests of faults to stop or kill. */
  readonly process: ChildProcess;
  /** Ends the server and keeps its data: at once (SIGQUIT), or by another signal. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again after `halt`, on the same port. */
  start(): Promise<void>;
  /** Starts another that follows this one; this one is started anew. */
  startStandby(): Promise<TestPostgres>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

type Settings = Record<string, string>;

/**
 * Starts a Postgres with its usual durability (fsync on), or with other settings
 * (`{ fsync: 'off' }`). As root it runs as an unprivileged user, since Postgres refuses root.
 * No file of its can grow beyond `maxFileSize` KiB, as if the disk were full.
 */
export async function startPostgres(
  settings: Settings = {},
  { maxFileSize = Number.POSITIVE_INFINITY }: { maxFileSize?: number } = {},
): Promise<TestPostgres> {
  const place = await makePlace();
  const { binaries, owner, data } = place;
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C'];
  // Files of its log that fit under the limit.
  if (maxFileSize < Number.POSITIVE_INFINITY) initdb.push('--wal-segsize=1');
  await promisify(execFile)(binaries.initdb, initdb, { ...owner, cwd: '/' });
  await writeFile(join(data, 'pg_hba.conf'), hostBasedAuthentication);
  return startOn(place, settings, maxFileSize);
}

/** Members of the role `with_password`, where a test makes one, need a password; nobody else does. */
const hostBasedAuthentication = `
  local all         all                           trust
  host  all         +with_password 127.0.0.1/32   scram-sha-256
  host  all         all            127.0.0.1/32   trust
  host  replication all            127.0.0.1/32   trust
`;

interface Place {
  binaries: Binaries;
  owner: User | undefined;
  directory: string;
  data: string;
}

async function makePlace(): Promise<Place> {
  const owner = await unprivilegedUser();
  const binaries = await postgresBinaries(owner);
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'));
  if (owner) await chown(directory, owner.uid, owner.gid);
  return { binaries, owner, directory, data: join(directory, 'data') };
}

async function startOn(
  { binaries, owner, directory, data }: Place,
  settings: Settings,
  maxFileSize: number,
): Promise<TestPostgres> {
  const port = String(await freePort());
  const run = platform() === 'win32' ? windowsPostgres : postgresProcess;
  const server = run({ binaries, owner, directory, data, port, settings, maxFileSize });
  const forget = atExit(server.abandon);
  await server.start();

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    get process() {
      return server.process;
    },
    halt: (signal = 'SIGQUIT') => server.halt(signal),
    start: server.start,
    async startStandby() {
      await server.halt('SIGINT');
      const copy = await makePlace();
      await cp(data, copy.data, { recursive: true });
      await writeFile(join(copy.data, 'standby.signal'), '');
      if (owner) await promisify(execFile)('chown', ['-R', `${owner.uid}:${owner.gid}`, copy.data]);
      await server.start();
      const primary = `host=127.0.0.1 port=${port} user=postgres`;
      return startOn(copy, { ...settings, primary_conninfo: primary }, maxFileSize);
    },
    async stop() {
      forget();
      await server.halt('SIGINT');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
