import { setTimeout } from 'node:timers/promises';
import {
  type Call,
  type CallOperation,
  isCreated,
  isExpected,
  isUnknown,
  lineOf,
  operationsById,
  send,
} from './calls.ts';
import { type Action, isExplainable, unexplainedPart } from './checker.ts';
import { startClients } from './clients.ts';
import { type Copy, listPlants, startFollowers } from './copies.ts';
import type { Fault, FaultyWorld } from './faults.ts';
import { type Random, randomOf } from './random.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

interface Outcome {
  /** The columns of a row in the report, which `main.ts` describes. */
  readonly figures: readonly unknown[];
  readonly problems: readonly string[];
}

/** A row of the report: one fault, or random faults for a number of milliseconds. */
export interface History extends WorldOptions {
  readonly name: string;
  /** Returns the next fault, or undefined at the end of the history. */
  next(random: Random, world: World): Fault | undefined;
}

/**
 * The copies must equal the table within this many milliseconds after the last write. When an instance is
 * killed while it sends a message of a webhook, another instance sends the message only after a minute.
 */
const patience = 240_000;

/** A report shows at most this many calls on an id: the last calls before the wrong result. */
const maxLines = 12;

/** Runs clients and consumers while the faults of a history happen, and checks the results. */
export async function runHistory(history: History, seed: number): Promise<Outcome> {
  const random = randomOf(seed);
  const world = await startWorld(history);
  try {
    const followers = startFollowers(world, randomOf(seed + 1));
    const clients = startClients(world, randomOf(seed + 2));
    const createAtAll = () => Promise.all(world.servers.map(clients.untilCreated));
    const firstCreated: number[] = [];
    await createAtAll();
    for (;;) {
      const fault = history.next(random, world);
      if (!fault) break;
      await setTimeout(random.whole(700, 1_500));
      clients.createSome(); // The fault begins before these creates get a response.
      // The cast is safe, because only the faults of Postgres use `database`.
      const mend = await fault.cause(world as FaultyWorld, random.pick(world.servers));
      clients.createSome();
      await setTimeout(fault.lasts);
      await mend();
      firstCreated.push(...(await createAtAll()));
    }
    await clients.stop();
    const copies = [...followers.map(({ copy }) => copy), world.receiver.copy];
    const { problems, calls, database } = world;
    problems.push(...(await differences(world, copies)));
    await Promise.all(followers.map(({ stop }) => stop()));
    problems.push(...copies.flatMap((copy) => copy.problems), ...wrongCalls(world));
    const wasPromoted = database && !database.standby;
    for (const { name, resets } of copies)
      if (resets > 0 && !wasPromoted)
        problems.push(`${name} had to list the plants again, ${resets} times`);
    if (firstCreated.includes(Number.POSITIVE_INFINITY))
      problems.push('a server does not create plants after a mend');
    const creates = calls.filter(({ request }) => request.type === 'create');
    const figures = [
      creates.filter(isCreated).length,
      creates.filter(isUnknown).length,
      Math.min(...copies.map(({ changes }) => changes)),
      database?.mostSessions() ?? 0,
      `${Math.round(Math.max(...firstCreated))} ms`,
    ];
    return { figures, problems };
  } finally {
    await world.stop();
  }
}

/** Compares the servers' lists with the copies. Returns the differences that remain after `patience`. */
async function differences({ servers, calls }: World, copies: readonly Copy[]): Promise<string[]> {
  for (const until = performance.now() + patience; ; ) {
    const different: string[] = [];
    for (const server of servers) {
      const table = await listPlants([server], calls).catch(() => undefined);
      if (!table) different.push(`server ${server.name} does not list the plants`);
      else different.push(...copies.flatMap((copy) => copy.differences(table)));
    }
    if (different.length === 0) return [];
    if (performance.now() > until) {
      const response = servers[0] && (await send(servers[0], 'GET', '/webhooks'));
      return [...different.slice(0, 5), `the webhooks: ${JSON.stringify(response?.body)}`];
    }
    await setTimeout(300);
  }
}

/** Checks the responses that the clients have received, and returns the problems. */
function wrongCalls({ calls, unconfirmed }: World): string[] {
  const origin = calls[0]?.start ?? 0;
  const unexpected = calls.filter((call) => !isExpected(call));
  const problems = unexpected.map((call) => `unexpected response: ${lineOf(call, origin)}`);
  const mayBeLost = ({ request, start, end }: Call) =>
    ['get', 'list'].includes(request.type) &&
    unconfirmed.some((period) => start < period.end && end > period.start);
  const reliable = calls.filter((call) => !mayBeLost(call));
  for (const [id, operations] of operationsById(reliable)) {
    if (isExplainable(operations)) continue;
    const part = unexplainedPart(operations).toSorted((a, b) => a.start - b.start);
    const lines = part
      .filter(({ action }, i) => !isEqual(action, part[i - 1]?.action))
      .slice(-maxLines)
      .map(({ call, action }) => `      ${lineOf(call, origin)}${stateOf(action)}`);
    problems.push([`${reasonOf(operations)}, id ${id}:`, ...lines].join('\n'));
  }
  return problems;
}

/** Says why no order explains the operations on an id. */
function reasonOf(operations: readonly CallOperation[]): string {
  const late = operations.map((operation) =>
    operation.isCertain ? operation : { ...operation, end: Number.POSITIVE_INFINITY },
  );
  if (isExplainable(late)) return 'a request took effect later than a second after its response';
  const isStored = operations.some(({ call }) => isCreated(call));
  const isKept = operations.every(({ action }) => ['create', 'read'].includes(action.type));
  return isStored && isKept
    ? 'an acknowledged plant is missing'
    : 'no order of the calls explains their results';
}

/** Whether two actions are reads of the same state. A report shows only the first of these reads. */
const isEqual = (one: Action, other: Action | undefined) =>
  one.type === 'read' && other?.type === 'read' && one.state === other.state;

const stateOf = (action: Action) =>
  action.type === 'read' ? ` (${action.state ?? 'no plant'})` : '';
