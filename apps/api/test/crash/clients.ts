import { setTimeout } from 'node:timers/promises';
import {
  type Call,
  callServer,
  effectLimit,
  isCreated,
  isRejected,
  isUnknown,
  type Plant,
  type Request,
} from './calls.ts';
import type { Random } from './random.ts';
import type { Server, World } from './world.ts';

const clients = 12;

/** A client pauses for this many milliseconds before it repeats a call without a result. */
const retryPause = 50;

/** The number of ids that all clients change again and again. After `hotPeriod` ms, clients use other ids. */
const hotIds = 8;
const hotPeriod = 10_000;

/** These ids and all later ids are beyond the safe integers of JavaScript. */
const firstFresh = 2n ** 53n + 1n;
const firstHot = 2n ** 62n;

/** After a mend, a create must succeed within this many milliseconds. */
const patience = 60_000;

/** Starts clients that write and read plants. Records all calls in `world.calls`, except in `writeBySql`. */
export function startClients(world: World, random: Random) {
  const { servers, calls } = world;
  const startedAt = performance.now();
  let isOver = false;
  let fresh = firstFresh;
  let names = 0;

  const open = new Set<Promise<Call>>();
  const send = async (server: Server, request: Request) => {
    const sent = callServer(server, request);
    open.add(sent);
    const call = await sent;
    open.delete(sent);
    calls.push(call);
    return call;
  };
  const newPlant = (): Plant => {
    const name = `plant ${names++} 🪴`;
    return random.isLikely(0.5) ? { name, tag: 'herb' } : { name };
  };
  const runningServer = async () => {
    for (;;) {
      const running = servers.filter(({ url }) => url !== undefined);
      if (running.length > 0) return random.pick(running);
      await setTimeout(10);
    }
  };

  /** Repeats a request until a call has a result or `isOver` is true. Without `isPatient`, sends one call. */
  const insist = async (request: Request, isPatient = true): Promise<Call | undefined> => {
    while (!isOver) {
      const call = await send(await runningServer(), request);
      if (!isPatient || !(isUnknown(call) || isRejected(call))) return call;
      await setTimeout(retryPause);
    }
    return undefined;
  };
  const createFresh = async () => {
    const id = fresh++;
    const call = await insist({ type: 'create', id, plant: newPlant() });
    if (call && random.isLikely(0.2)) await insist({ type: 'delete', id }, false);
  };
  /**
   * Creates a plant at one server, and deletes the plant at another server that shows the plant. If the
   * create takes effect again after the delete, later reads show the plant. If the create has no result, the
   * reads at the other servers go on until a read shows the plant or the create can no longer take effect.
   */
  const createOnce = async (server: Server) => {
    const id = fresh++;
    let call: Call | undefined;
    void send(server, { type: 'create', id, plant: newPlant() }).then((ended) => {
      call = ended;
    });
    const others = servers.filter((other) => other !== server);
    const isSettled = () => call && (!isUnknown(call) || performance.now() > effectLimit(call));
    while (!isOver) {
      const isLast = isSettled();
      const reads = await Promise.all(others.map((other) => send(other, { type: 'get', id })));
      const other = reads.find(({ response }) => response?.status === 200)?.server;
      if (other) await send(other, { type: 'delete', id });
      if (other || isLast) return;
      await setTimeout(500);
    }
  };
  const changeHot = async () => {
    const period = Math.floor((performance.now() - startedAt) / hotPeriod);
    const first = firstHot + BigInt(period * hotIds);
    const id = first + BigInt(random.whole(0, hotIds - 1));
    const create: Request = { type: 'create', id, plant: newPlant() };
    const range = { from: first, to: first + BigInt(hotIds - 1) };
    const request = random.pick<Request>([
      create,
      create,
      { type: 'delete', id },
      { type: 'get', id },
      { type: 'list', ...range, after: String(first - 1n), limit: hotIds },
      { ...create, type: 'replace' },
    ]);
    await insist(request, random.isLikely(0.5));
  };
  const run = async () => {
    while (!isOver) {
      await setTimeout(random.whole(10, 120));
      if (random.isLikely(0.2)) await createFresh();
      else if (random.isLikely(0.25)) await createOnce(await runningServer());
      else await changeHot();
    }
  };
  const running = Array.from({ length: clients }, run);
  if (world.database) running.push(writeBySql(world, random, () => isOver));

  return {
    /** Starts a few creates at each server, with the checks of `createOnce`. */
    createSome(): void {
      for (const server of servers)
        running.push(...Array.from({ length: 5 }, () => createOnce(server)));
    },
    /** Creates plants until a create gets 200. Resolves with the time in ms, or Infinity after `patience`. */
    async untilCreated(server: Server): Promise<number> {
      const since = performance.now();
      const first = Promise.withResolvers<number>();
      let isDone = false;
      const create = async () => {
        const call = await send(server, { type: 'create', id: fresh++, plant: newPlant() });
        if (isCreated(call)) first.resolve(call.end - since);
      };
      void first.promise.then(() => {
        isDone = true;
      });
      while (!isDone && performance.now() - since < patience) {
        void create();
        await setTimeout(100);
      }
      return isDone ? first.promise : Number.POSITIVE_INFINITY;
    },
    /** Stops the clients. Resolves when all calls have ended. */
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(running);
      await Promise.all(open);
    },
  };
}

/**
 * Inserts plants by SQL, as another program would, in transactions that stay open for a while. In this time,
 * a client deletes an earlier plant, and the transaction inserts this plant again. The feed must show the
 * plant although its delete has the higher transaction number. About half of the commits are asynchronous.
 */
async function writeBySql({ database, servers }: World, random: Random, isOver: () => boolean) {
  for (let id = 1n; database && !isOver(); id += 2n) {
    await setTimeout(random.whole(0, 200));
    const pause = random.whole(0, 400);
    const insert = (value: bigint) =>
      `insert into plants (id, name) values (${value}, 'by SQL ${value}') on conflict do nothing`;
    const statements = [
      `begin; set local synchronous_commit = ${random.isLikely(0.5) ? 'on' : 'off'}`,
      insert(id),
      `select pg_sleep(${pause / 1_000})`,
      insert(id - 2n),
      insert(id + 1n),
      random.isLikely(0.2) ? 'rollback' : 'commit',
    ];
    const written = database.query(statements.join(';')).catch(() => {}); // A fault may end the connection.
    await setTimeout(pause / 2);
    await callServer(random.pick(servers), { type: 'delete', id: id - 2n });
    await written;
  }
}
