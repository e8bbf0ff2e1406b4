import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import type { FaultName } from './schedule.ts';
import type { Instance, World } from './world.ts';

/** Milliseconds of a slow flush. */
const flush = 15_000;

/** Begins a fault. Resolves with the function that ends it. */
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

  async freezeBackends({ database }) {
    const backends = await database?.admin.unsafe<{ pid: number }[]>(
      "select pid from pg_stat_activity where application_name like 'plant-store process%'",
    );
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of backends ?? []) signalProcess(pid, name);
    };
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  },

  async holdNetwork(_, { network }) {
    return setFault(network, 'hold');
  },

  /** Statements arrive at the database. Their responses are held back, and then lost. */
  async loseResponses(_, { network }) {
    setFault(network, 'holdResponses');
    return () => setFault(network, 'refuse')(); // Resets the open connections, but no new one.
  },

  async cutNetwork(_, { network }) {
    return setFault(network, 'reset');
  },

  async restartPostgres({ database }) {
    await database?.server.halt();
    return () => database?.server.start();
  },

  /** The flush that runs at the end takes its full time. */
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
    const sql = postgres(standby?.url ?? '', { max: 1 });
    await sql`select pg_promote()`;
    await sql.end();
    return () => {};
  },

  async flood({ token }, { url }) {
    if (url === undefined) return () => {};
    await createPlantsToList(url, token);
    return startFloodOfLists(url, token);
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
    // The process may have ended already.
  }
}

/** The number of plants in each list of a flood. The plants have negative ids, which no schedule uses. */
const listed = 1_000;

async function createPlantsToList(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (let id = -listed; id < 0; ) {
    const creates = Array.from({ length: 50 }, () => {
      const body = JSON.stringify({ id: id++, name: 'a plant to list' });
      return fetch(`${url}/plants`, { method: 'POST', headers, body });
    });
    for (const response of await Promise.all(creates)) await response.arrayBuffer();
  }
}

/** The number of lists that a flood requests at the same time. */
const connections = 1_200;

/** Lists these plants on many connections in a loop, and reads no response. */
function startFloodOfLists(url: string, token: string): () => void {
  const { hostname, port } = new URL(url);
  const request =
    `GET /plants?limit=${listed} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
    `Authorization: Bearer ${token}\r\n\r\n`;
  const sockets = new Set<Socket>();
  let isOver = false;
  const list = () => {
    if (isOver) return;
    const socket = connect(Number(port), hostname, () => socket.write(request));
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        list();
      });
    socket.resume();
  };
  for (let i = 0; i < connections; i++) list();
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}
