import { statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startProcess } from '@plant-store/test-setup';
import { type Call, isCreated, isUnknown } from './calls.ts';
import type { Database } from './database.ts';
import { type Server, serverSettings, type World, type WorldOptions } from './world.ts';

/** A fault that happens while clients write and read. */
export interface Fault extends WorldOptions {
  readonly name: string;
  /** How often the fault happens. Default: once. */
  readonly times?: number;
  /** How long the fault lasts, in milliseconds. */
  readonly lasts: number;
  /** Whether a random history has this fault, too. A fault that needs the standby happens before a promotion. */
  readonly isRandom?: 'always' | 'with standby' | 'promotion';
  /** Causes the fault, at this server if it concerns one server. Resolves with a function that mends it. */
  cause(world: World & { database: Database }, server: Server): Promise<() => unknown>;
}

/** The highest number of connections that the pool of one server opens. */
const poolSize = 7;

const onPostgres: Fault[] = [
  {
    name: 'SIGKILL of a server',
    database: 'postgres',
    times: 3,
    lasts: 500,
    isRandom: 'always',
    async cause(_, server) {
      await server.stop('SIGKILL');
      return server.start;
    },
  },
  {
    name: 'SIGKILL of Postgres',
    database: 'postgres',
    times: 3,
    lasts: 500,
    isRandom: 'always',
    async cause({ database: { primary, standby, untilStreaming } }) {
      await primary.halt('SIGKILL');
      return async () => {
        await primary.start();
        if (standby) await untilStreaming();
      };
    },
  },
  {
    name: 'promotion of a standby that was away',
    database: 'postgres',
    lasts: 0,
    isRandom: 'promotion',
    async cause({ database, unconfirmed }) {
      // Only the old primary has the plants of the next seconds, and a failover loses them.
      const start = performance.now();
      await database.standby?.halt();
      await setTimeout(7_000);
      await database.primary.halt('SIGKILL');
      unconfirmed.push({ start, end: performance.now() });
      await database.standby?.start();
      return database.promote;
    },
  },
  {
    name: 'a standby that is away',
    database: 'postgres',
    lasts: 8_000,
    isRandom: 'with standby',
    async cause({ database, calls, problems }) {
      await database.standby?.halt();
      const start = performance.now();
      return async () => {
        const end = performance.now();
        problems.push(...wrongWithoutStandby(calls.filter((call) => call.start > start)));
        const most = database.mostSessions(start, end);
        if (most > 2 * poolSize)
          problems.push(`the servers had ${most} sessions without the standby`);
        await database.standby?.start();
        await database.untilStreaming();
      };
    },
  },
  {
    name: 'a frozen server that goes on',
    database: 'postgres',
    lasts: 8_000,
    isRandom: 'always',
    async cause(_, { process: { child }, freezes }) {
      child.kill('SIGSTOP');
      const freeze = { start: performance.now(), end: Number.POSITIVE_INFINITY };
      freezes.push(freeze);
      return () => {
        child.kill('SIGCONT');
        freeze.end = performance.now();
      };
    },
  },
  {
    name: 'a frozen Postgres',
    database: 'postgres',
    lasts: 8_000,
    isRandom: 'always',
    cause: ({ database }) => database.betweenWrites(() => database.primary.freeze()),
  },
  {
    name: 'frozen sessions of one server',
    database: 'postgres',
    lasts: 10_000,
    isRandom: 'always',
    async cause({ database }, { network }) {
      const pids = await database.betweenWrites(async () => {
        const ofServer = `select pid from pg_stat_activity where client_port in (${network?.ports()})`;
        const sessions = await database.query<{ pid: number }>(ofServer);
        for (const { pid } of sessions) signalProcess(pid, 'SIGSTOP');
        return sessions;
      });
      return () => {
        for (const { pid } of pids) signalProcess(pid, 'SIGCONT');
      };
    },
  },
  {
    name: 'a network that is silent',
    database: 'postgres',
    lasts: 7_000,
    isRandom: 'always',
    cause: (_, server) => setNetwork(server, 'blackhole'),
  },
  {
    name: 'a network that delivers late',
    database: 'postgres',
    lasts: 10_000,
    isRandom: 'always',
    cause: (_, server) => setNetwork(server, 'hold'),
  },
  {
    name: 'a network that resets',
    database: 'postgres',
    times: 3,
    lasts: 800,
    isRandom: 'always',
    cause: (_, server) => setNetwork(server, 'reset'),
  },
  {
    name: 'a lost response',
    database: 'postgres',
    times: 5,
    lasts: 1_200,
    isRandom: 'always',
    async cause(_, server) {
      await setNetwork(server, 'holdResponses');
      return async () => (await setNetwork(server, 'refuse'))();
    },
  },
  {
    name: 'a full disk',
    database: 'postgres',
    maxFileSize: 4 * 1_024,
    lasts: 3_000,
    async cause({ database, calls, problems }) {
      // Smaller inserts fill the pages that the larger inserts leave.
      for (const count of [100_000, 1_000, 100, 10, 1]) {
        const rows = `select -generate_series(1, ${count}), repeat('x', ${Math.ceil(count / 300)})`;
        const fill = () => database.query(`begin; insert into plants ${rows}; rollback`);
        while (
          await fill().then(
            () => true,
            () => false,
          )
        );
      }
      const start = performance.now();
      return async () => {
        const during = calls.filter((call) => call.start > start);
        if (!during.some(isFailedCreate)) problems.push('no create got 50300 on the full disk');
        await database.query('vacuum plants');
      };
    },
  },
  {
    name: 'a rolling restart',
    database: 'postgres',
    lasts: 0,
    async cause({ servers, problems }) {
      for (const server of servers) {
        const code = await server.stop('SIGTERM');
        if (code !== 0) problems.push(`server ${server.name} ended with ${code} after SIGTERM`);
        await server.start();
      }
      return () => {};
    },
  },
];

const onEmbedded: Fault[] = [
  {
    name: 'embedded: SIGKILL in mid-write',
    database: 'embedded',
    times: 6,
    lasts: 0,
    async cause(_, server) {
      await server.stop('SIGKILL');
      return server.start;
    },
  },
  {
    name: 'embedded: a second server',
    database: 'embedded',
    lasts: 0,
    async cause({ directory, problems }) {
      const second = startProcess({ PLANT_STORE_DATA_DIR: directory, ...serverSettings });
      const started = second.listening().then(
        () => 'started',
        () => 'ended',
      );
      if ((await started) === 'started') problems.push('two servers run on one data directory');
      second.child.kill('SIGKILL');
      return () => {};
    },
  },
  {
    name: 'embedded: a full disk',
    database: 'embedded',
    diskSize: 256,
    lasts: 4_000,
    async cause({ directory }) {
      const filler = join(directory, 'filler');
      const { bavail, bsize } = await statfs(directory);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {}); // The disk may fill earlier.
      return () => truncate(filler, 0);
    },
  },
];

export const faults: readonly Fault[] = [...onPostgres, ...onEmbedded];

const isFailedCreate = (call: Call): boolean =>
  call.request.type === 'create' && call.response !== undefined && isUnknown(call);

/** No create succeeds without the standby, and the servers respond. */
function wrongWithoutStandby(calls: readonly Call[]): string[] {
  const creates = calls.filter(({ request }) => request.type === 'create');
  const ids = creates.filter(isCreated).map(({ request }) => ('id' in request ? request.id : ''));
  const created = ids.map((id) => `the create of ${id} got 200 without the standby`);
  return calls.some(isFailedCreate)
    ? created
    : [...created, 'no create got 50300 without the standby'];
}

async function setNetwork(
  { network }: Server,
  fault: Parameters<NonNullable<Server['network']>['set']>[0],
) {
  network?.set(fault);
  return () => network?.set('none');
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
