import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresBinaries } from './binaries.ts';
import { unprivilegedUser } from './unprivileged-user.ts';

/** A real Postgres of its own, on a free port, with its data in the system's temporary directory. */
export interface TestPostgres {
  /** The URL of its maintenance database. */
  readonly url: string;
  /** The server's process, for tests of faults to stop or kill. */
  readonly process: ChildProcess;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a Postgres with its usual durability (fsync on), or with other settings
 * (`{ fsync: 'off' }`). As root it runs as an unprivileged user, since Postgres refuses root.
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<TestPostgres> {
  const owner = await unprivilegedUser();
  const binaries = await postgresBinaries(owner);
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'));
  if (owner) await chown(directory, owner.uid, owner.gid);
  const data = join(directory, 'data');
  const options = { ...owner, cwd: directory };

  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C'];
  await promisify(execFile)(binaries.initdb, initdb, options);

  const port = String(await freePort());
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(
    binaries.postgres,
    ['-D', data, '-p', port, '-h', '127.0.0.1', '-k', directory, ...flags],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // It stops with the tests, even where they end without saying so.
  const stopWithTests = () => server.kill('SIGQUIT');
  process.once('exit', stopWithTests);
  await readyToAccept(server);

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    process: server,
    async stop() {
      process.off('exit', stopWithTests);
      if (server.exitCode === null && server.signalCode === null) {
        server.kill('SIGINT');
        await once(server, 'exit');
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function readyToAccept(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      log += log.length < 10_000 ? chunk : '';
      if (String(chunk).includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Postgres ended with code ${code}:\n${log}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || !address) throw new Error('no port is free');
  return address.port;
}
