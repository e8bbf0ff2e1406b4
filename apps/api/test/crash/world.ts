import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Fault as NetworkFault,
  type StartedProcess,
  startFaultProxy,
  startProcess,
} from '@plant-store/test-setup';
import { type Call, send } from './calls.ts';
import { type Database, startDatabase } from './database.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const run = promisify(execFile);

/** A process of the server's program. */
export type Server = Awaited<ReturnType<typeof startServer>>;

/** A period between two times on the clock `performance.now()`. */
export interface Period {
  readonly start: number;
  end: number;
}

type Network = Awaited<ReturnType<typeof startNetwork>>;

/** The parts that a fault can affect, the calls of the clients, and the problems. */
export interface World {
  readonly servers: readonly Server[];
  /** Undefined on the embedded database. */
  readonly database: Database | undefined;
  /** The data directory of the embedded database. */
  readonly directory: string;
  readonly receiver: Receiver;
  readonly calls: Call[];
  /** The broken promises, as texts for the report. */
  readonly problems: string[];
  /** The periods in which a read may show a plant that a failover loses, because no standby has the plant. */
  readonly unconfirmed: Period[];
  stop(): Promise<void>;
}

export interface WorldOptions {
  /** Whether the store has an embedded database. Default: a Postgres with a synchronous standby. */
  readonly isEmbedded?: true;
  /** On Postgres, the largest size of each file in KiB. */
  readonly maxFileSize?: number;
  /** On the embedded database, the size in MiB of a separate file system for the data. */
  readonly diskSize?: number;
}

/** Starts two servers on a Postgres with a synchronous standby, or one server on an embedded database. */
export async function startWorld({ isEmbedded, maxFileSize, diskSize }: WorldOptions) {
  const cleanUps: (() => unknown)[] = [];
  const stop = async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  };
  try {
    const receiver = await startReceiver();
    cleanUps.push(receiver.close);
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
    cleanUps.push(() => rm(directory, { recursive: true, force: true }));
    if (diskSize) {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}m`, 'tmpfs', directory]);
      cleanUps.push(() => run('umount', ['--lazy', directory]));
    }
    const database = isEmbedded ? undefined : await startDatabase(maxFileSize);
    if (database) cleanUps.push(database.stop);
    await database?.addStandby();

    const begin = async (name: string) => {
      const network = database && (await startNetwork(database.urls()));
      if (network) cleanUps.push(network.close);
      const data = network ? { DATABASE_URL: network.url } : { PLANT_STORE_DATA_DIR: directory };
      const server = await startServer(name, { ...data }, network);
      cleanUps.push(() => server.stop('SIGKILL'));
      return server;
    };
    const servers = await Promise.all((database ? ['A', 'B'] : ['A']).map(begin));
    receiver.servers.push(...servers);
    await createWebhook(servers, receiver.url);
    const seen = { calls: [], problems: [], unconfirmed: [] };
    const world: World = { servers, database, directory, receiver, ...seen, stop };
    return world;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createWebhook([server]: readonly Server[], url: string): Promise<void> {
  const create = () => server && send(server, 'POST', '/webhooks', JSON.stringify({ url }));
  let response = await create();
  // After a pause of its process on a busy machine, a server rejects writes for a second.
  while (response?.body.error === 50301) response = await create();
  if (response?.status !== 200) throw new Error(`createWebhook error: ${response?.body.message}`);
}

/** Starts a proxy in front of each database server. */
async function startNetwork(urls: string[]) {
  const proxies = await Promise.all(urls.map((url) => startFaultProxy(url)));
  const [first, ...others] = proxies.map(({ url }) => url);
  const hosts = others.map((url) => `,${new URL(url).host}`).join('');
  return {
    /** The URL by which the store reaches the primary and the standby. */
    url: first?.replace(/(?<=@[^/]+)\//, `${hosts}/`) ?? '',
    set(fault: NetworkFault): void {
      for (const proxy of proxies) proxy.fault = fault;
    },
    /** Drops the responses on the open connections. Returns a function that resets these connections. */
    loseResponses() {
      const resets = proxies.map((proxy) => proxy.loseResponses());
      return () => {
        for (const reset of resets) reset();
      };
    },
    /** The client ports of the connections to Postgres. */
    ports: () => proxies.flatMap((proxy) => proxy.serverPorts),
    close(): void {
      for (const proxy of proxies) proxy.close();
    },
  };
}

/** A server gets SIGKILL when it still runs this many milliseconds after SIGTERM. */
const stopPatience = 60_000;

/** The settings of every server, even of a second server on the same directory. */
export const serverSettings = { LOG_LEVEL: 'error', PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1' };

async function startServer(name: string, env: Record<string, string>, network?: Network) {
  const token = randomUUID();
  let url: string | undefined;
  let running: StartedProcess;
  const start = async (): Promise<void> => {
    running = startProcess({ ...env, ...serverSettings, PLANT_STORE_TOKEN: token });
    url = await running.listening();
  };
  await start();
  return {
    name,
    token,
    /** The network between the process and its Postgres. */
    network,
    /** The periods in which the process is frozen and reads no request. */
    freezes: [] as Period[],
    /** The periods in which commits wait, because no standby confirms them. */
    withoutStandby: [] as Period[],
    /** Undefined until the server listens, and after `stop`. */
    get url() {
      return url;
    },
    get process() {
      return running;
    },
    start,
    /** Resolves with the exit code, or with the signal that ended the process. */
    async stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
      url = undefined;
      running.child.kill(signal);
      const timer = setTimeout(() => running.child.kill('SIGKILL'), stopPatience);
      const code = await running.ended();
      clearTimeout(timer);
      return code;
    },
  };
}
