import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freezeProcesses, type Fault as NetworkFault, startProcess } from '@plant-store/test-setup';
import { type Call, callServer, isCreated, isUnknown } from './calls.ts';
import type { Database } from './database.ts';
import { type Server, serverSettings, type World, type WorldOptions } from './world.ts';

const run = promisify(execFile);

/** A fault that happens while clients write and read. */
export interface Fault extends WorldOptions {
  readonly name: string;
  /** How often the fault happens. Default: once. */
  readonly times?: number;
  /** The milliseconds from the cause to the mend. Default: 0. */
  readonly lasts?: number;
  /** Whether the fault is possible only while there is a standby. */
  readonly needsStandby?: true;
  /** Causes the fault. Some faults affect only `server`. Resolves with a function that mends the fault. */
  cause(world: FaultyWorld, server: Server): Promise<() => unknown>;
}

/** A world with a Postgres. The faults of the embedded database do not use `database`. */
export type FaultyWorld = World & { readonly database: Database };

/** While the standby is down, a create must get an error within this many milliseconds. */
const patience = 30_000;

/** The highest number of connections of one server: 11 in the pool, and one to find overdue statements. */
const poolSize = 12;

export const faults: readonly Fault[] = [
  { name: 'SIGKILL of a server', times: 3, lasts: 500, cause: killServer },
  {
    name: 'SIGKILL of Postgres',
    times: 3,
    lasts: 500,
    async cause({ database: { primary, standby, untilStreaming } }) {
      await primary.halt('SIGKILL');
      return async () => {
        await primary.start();
        if (standby) await untilStreaming();
      };
    },
  },
  {
    name: 'promotion of a standby that was down',
    needsStandby: true,
    async cause({ database, unconfirmed }) {
      // Only the old primary has the plants of the next seconds, and a failover loses them.
      const start = performance.now();
      await database.standby?.halt();
      await cancelWaits(database);
      await database.primary.halt('SIGKILL');
      unconfirmed.push({ start, end: performance.now() });
      await database.standby?.start();
      return database.promote;
    },
  },
  {
    name: 'a standby that is down',
    lasts: 2_000,
    needsStandby: true,
    async cause({ servers, database, calls, problems }) {
      // A commit that waits for the standby may become visible only when the standby is back.
      const period = { start: performance.now(), end: Number.POSITIVE_INFINITY };
      for (const server of servers) server.withoutStandby.push(period);
      await database.standby?.halt();
      const start = performance.now();
      const during = () => calls.filter((call) => call.start > start);
      await cancelWaits(database);
      return async () => {
        const end = performance.now() + patience;
        const isNoticed = () => during().some(isFailedCreate);
        while (!isNoticed() && performance.now() < end) await setTimeout(20);
        if (!isNoticed()) problems.push('no create got 50300 without the standby');
        for (const { request } of during().filter(isCreated))
          problems.push(
            `the create of ${'id' in request && request.id} got 200 without the standby`,
          );
        const most = database.mostSessions(start);
        if (most > 2 * poolSize) problems.push(`${most} sessions without the standby`);
        await database.standby?.start();
        await database.untilStreaming();
        period.end = performance.now();
      };
    },
  },
  {
    name: 'a frozen server that continues',
    lasts: 8_000,
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
    lasts: 8_000,
    cause: ({ database }) => database.betweenWrites(() => database.primary.freeze()),
  },
  {
    name: 'frozen sessions of one server',
    lasts: 10_000,
    async cause({ database }, { network }) {
      return database.betweenWrites(async () => {
        const ofServer = `select pid from pg_stat_activity where client_port in (${network?.ports()})`;
        const sessions = await database.query<{ pid: number }>(ofServer);
        return freezeProcesses(sessions.map(({ pid }) => pid));
      });
    },
  },
  { name: 'a network that is silent', lasts: 7_000, cause: withNetwork('blackhole') },
  { name: 'a network that delivers late', lasts: 10_000, cause: withNetwork('hold') },
  { name: 'a network that resets', times: 3, lasts: 800, cause: withNetwork('reset') },
  {
    name: 'a lost response',
    times: 3,
    lasts: 2_500,
    cause: async (_, { network }) => network?.loseResponses() ?? (() => {}),
  },
  {
    name: 'a full disk',
    maxFileSize: 4 * 1_024,
    lasts: 3_000,
    async cause({ database, calls }, server) {
      const rows = "select -generate_series(1, 100000), repeat('x', 300)";
      await database.query(`begin; insert into plants ${rows}; rollback`).catch(() => {});
      // Short plants still fit into some pages, so a client creates long plants until a create fails.
      for (let id = 2n ** 54n, isFull = false; !isFull; id++) {
        const plant = { name: randomBytes(900).toString('hex') };
        const call = await callServer(server, { type: 'create', id, plant });
        calls.push(call);
        isFull = isFailedCreate(call);
      }
      return () => database.query('vacuum plants');
    },
  },
  {
    name: 'a rolling restart',
    async cause({ servers, problems }) {
      for (const server of servers) {
        const code = await server.stop('SIGTERM');
        if (code !== 0) problems.push(`server ${server.name} ended with ${code} after SIGTERM`);
        await server.start();
      }
      return () => {};
    },
  },
  { name: 'embedded: SIGKILL in mid-write', isEmbedded: true, times: 6, cause: killServer },
  {
    name: 'embedded: a second server',
    isEmbedded: true,
    async cause({ directory, problems }) {
      const second = startProcess({ PLANT_STORE_DATA_DIR: directory, ...serverSettings });
      const isStarted = second.listening().then(Boolean, () => false);
      if (await isStarted) problems.push('two servers run on one data directory');
      second.child.kill('SIGKILL');
      return () => {};
    },
  },
  {
    name: 'embedded: files that cannot grow',
    isEmbedded: true,
    lasts: 4_000,
    async cause(_, { process: { child } }) {
      const limit = (bytes: string) =>
        run('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
      await limit('1000000');
      return () => limit('unlimited');
    },
  },
  {
    name: 'embedded: a full disk', // Only root can mount the disk.
    isEmbedded: true,
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

async function killServer(_: World, server: Server): Promise<() => Promise<void>> {
  await server.stop('SIGKILL');
  return server.start;
}

function withNetwork(fault: NetworkFault): Fault['cause'] {
  return async (_, { network }) => {
    network?.set(fault);
    return () => network?.set('none');
  };
}

/**
 * Cancels the waits of commits for the standby twice a second for 7 s, as an impatient operator does. The
 * plants of these commits are visible, but only on the primary.
 */
async function cancelWaits({ query }: Database): Promise<void> {
  for (const end = performance.now() + 7_000; performance.now() < end; await setTimeout(500)) {
    await query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
  }
}

const isFailedCreate = (call: Call): boolean =>
  call.request.type === 'create' && call.response !== undefined && isUnknown(call);
