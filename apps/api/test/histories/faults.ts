import { setTimeout } from 'node:timers/promises';
import { startRequestFlood } from '../faults/request-flood.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { post, type Target } from '../fixtures/surfaces.ts';
import type { FaultName } from './schedule.ts';
import type { Instance, World } from './world.ts';

/** A slow flush takes this many milliseconds. */
const flush = 15_000;

/** Begins a fault. Resolves with a function that ends the fault. */
type BeginFault = (world: World, instance: Instance) => Promise<() => unknown>;

export const faults: Record<FaultName, BeginFault> = {
  async freeze(_, { process: { child } }) {
    child.kill('SIGSTOP');
    return () => child.kill('SIGCONT');
  },

  async kill(_, instance) {
    await instance.kill();
    return instance.start;
  },

  /**
   * Freezes the store's sessions while no commit runs. A session that freezes during a commit would act like
   * a slow flush.
   */
  async freezeBackends({ database }) {
    const pids: number[] = [];
    const signal = (name: NodeJS.Signals) => {
      for (const pid of pids) signalProcess(pid, name);
    };
    await database?.admin.begin(async (sql) => {
      // The lock is granted when all running writes have ended.
      await sql`lock table plants in exclusive mode`;
      const backends = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity where application_name like 'plant-store process%'`;
      pids.push(...backends.map(({ pid }) => pid));
      signal('SIGSTOP');
    });
    return () => signal('SIGCONT');
  },

  async holdNetwork(_, { network }) {
    return setFault(network, 'hold');
  },

  /** The proxy sends the statements to the database, delays all responses, and then loses these responses. */
  async loseResponses(_, { network }) {
    setFault(network, 'holdResponses');
    // The proxy first resets the open connections, and then works normally again.
    return () => setFault(network, 'refuse')();
  },

  async cutNetwork(_, { network }) {
    return setFault(network, 'reset');
  },

  async restartPostgres({ database }) {
    await database?.server.halt();
    return () => database?.server.start();
  },

  /** A flush that still runs at the end of this fault takes its full time of `flush` milliseconds. */
  async slowFlush({ database, disk }) {
    disk?.set(flush);
    return async () => {
      disk?.set(0);
      const flushes = () =>
        database?.admin.unsafe("select from pg_stat_activity where wait_event = 'WalSync'");
      do await setTimeout(100);
      while ((await flushes())?.length);
    };
  },

  async slowFlushCutShort({ disk }) {
    disk?.set(flush);
    return () => disk?.cut();
  },

  async promoteStandby({ database, standby }) {
    await database?.server.halt();
    await standby?.promote();
    return () => {};
  },

  async flood({ token }, { url }) {
    if (url === undefined) return () => {};
    await createPlantsToList({ url, token });
    const text = requestText(`GET /plants?limit=${listed}`, token);
    const { stop } = await startRequestFlood(url, connections, () => ({ text }));
    return stop;
  },
};

function setFault(
  network: Instance['network'],
  fault: 'hold' | 'holdResponses' | 'refuse' | 'reset',
) {
  if (network) network.fault = fault;
  return () => {
    if (network) network.fault = 'none';
  };
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // `kill` throws when the process has already ended.
  }
}

/** The number of plants in each list of a flood. No schedule uses the negative ids of these plants. */
const listed = 1_000;

async function createPlantsToList(target: Target): Promise<void> {
  for (let id = -listed; id < 0; ) {
    const creates = Array.from({ length: 50 }, () =>
      post(target, '/plants', JSON.stringify({ id: id++, name: 'a plant to list' })),
    );
    for (const response of await Promise.all(creates)) await response.arrayBuffer();
  }
}

/** The number of lists that a flood requests at the same time. */
const connections = 1_200;
