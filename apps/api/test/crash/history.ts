import { setTimeout } from 'node:timers/promises';
import {
  type Call,
  isCreated,
  isExpected,
  isUnknown,
  lineOf,
  operationsById,
  textOf,
} from './calls.ts';
import { isExplainable, unexplainedPart } from './checker.ts';
import { startClients } from './clients.ts';
import { type Copy, listPlants, startFollowers } from './copies.ts';
import type { Fault } from './faults.ts';
import { type Random, randomOf } from './random.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

export interface Outcome {
  readonly created: number;
  /** The creates after which nobody knew whether the plant was stored. */
  readonly unknown: number;
  /** The number of changes that the slowest consumer of the feed has read. */
  readonly changes: number;
  readonly mostSessions: number;
  /** The longest time from a mend to the first create with 200 at a server, in milliseconds. */
  readonly firstCreated: number;
  readonly problems: readonly string[];
}

/** A row of the report: one fault, or the faults that a seed chooses for a number of milliseconds. */
export interface History extends WorldOptions {
  readonly name: string;
  /** Returns the next fault and its duration, or undefined at the end of the history. */
  next(random: Random): { fault: Fault; lasts: number } | undefined;
}

/** The copies must be the table this many milliseconds after the last write. */
const patience = 120_000;

/** Runs clients and consumers while the faults of a history happen, and checks what they have seen. */
export async function runHistory(history: History, seed: number): Promise<Outcome> {
  const random = randomOf(seed);
  const world = await startWorld(history);
  try {
    const followers = startFollowers(world, randomOf(seed + 1));
    const clients = await startClients(world, randomOf(seed + 2));
    const createAtAll = () => Promise.all(world.servers.map(clients.untilCreated));
    const firstCreated: number[] = [];
    await createAtAll();
    for (;;) {
      const next = history.next(random);
      if (!next) break;
      await setTimeout(random.whole(700, 1_500));
      // The cast is safe, because each fault of Postgres has a world with a database.
      const mend = await next.fault.cause(
        world as Parameters<Fault['cause']>[0],
        random.pick(world.servers),
      );
      await setTimeout(next.lasts);
      await mend();
      firstCreated.push(...(await createAtAll()));
    }
    await clients.stop();
    const copies = [...followers.map(({ copy }) => copy), world.receiver.copy];
    const { problems, calls, database } = world;
    problems.push(...(await differences(world, copies)));
    await Promise.all(followers.map(({ stop }) => stop()));
    problems.push(...copies.flatMap((copy) => copy.problems), ...wrongCalls(world));
    if (firstCreated.includes(Number.POSITIVE_INFINITY))
      problems.push('a server does not create plants after a mend');
    const creates = calls.filter(({ request }) => request.type === 'create');
    return {
      created: creates.filter(isCreated).length,
      unknown: creates.filter(isUnknown).length,
      changes: Math.min(...copies.map(({ changes }) => changes)),
      mostSessions: database?.mostSessions() ?? 0,
      firstCreated: Math.max(...firstCreated),
      problems,
    };
  } finally {
    await world.stop();
  }
}

/** Lists the plants at each server, and waits until the copies are equal to the list. */
async function differences({ servers, calls }: World, copies: readonly Copy[]): Promise<string[]> {
  for (const until = performance.now() + patience; ; ) {
    const different: string[] = [];
    for (const server of servers) {
      const table = await listPlants([server], calls).catch(() => undefined);
      if (!table) different.push(`server ${server.name} does not list the plants`);
      else different.push(...copies.flatMap((copy) => copy.differences(table)));
    }
    if (different.length === 0 || performance.now() > until) return different;
    await setTimeout(300);
  }
}

/** Checks the responses that the clients have got. */
function wrongCalls({ calls, unconfirmed }: World): string[] {
  const origin = calls[0]?.start ?? 0;
  const unexpected = calls.filter((call) => !isExpected(call));
  const reliable = calls.filter(
    ({ request: { type }, start, end }) =>
      !(
        ['get', 'list'].includes(type) &&
        unconfirmed.some((period) => start < period.end && end > period.start)
      ),
  );
  const problems = unexpected.map((call) => `unexpected response: ${lineOf(call, origin)}`);
  for (const [id, operations] of operationsById(reliable)) {
    if (isExplainable(operations)) continue;
    const late = operations.map((each) =>
      each.isCertain ? each : { ...each, end: Number.POSITIVE_INFINITY },
    );
    const what = isMissing(
      id,
      operations.map(({ call }) => call),
    )
      ? 'an acknowledged plant is missing'
      : isExplainable(late)
        ? 'a request took effect later than a second after its response'
        : 'no order of the calls explains their results';
    const part = unexplainedPart(operations).toSorted((a, b) => a.start - b.start);
    const lines = part.map(({ call, action }) => `      ${lineOf(call, origin)}${stateOf(action)}`);
    problems.push([`${what}, id ${id}:`, ...lines].join('\n'));
  }
  return problems;
}

const stateOf = (action: { type: string; state?: string | null }) =>
  action.type === 'read' ? ` (${action.state ?? 'no plant'})` : '';

/** Whether a plant with 200 that nobody may have deleted or replaced is not in the last list. */
function isMissing(id: bigint, calls: readonly Call[]): boolean {
  const { request } = calls.find(isCreated) ?? {};
  if (
    request?.type !== 'create' ||
    calls.some(({ request: { type } }) => ['delete', 'replace'].includes(type))
  )
    return false;
  const last = calls.filter((call) => call.request.type === 'list').at(-1)?.response?.body;
  const stored = last?.plants?.find((plant) => plant.id === id);
  return stored === undefined || textOf(stored) !== textOf(request.plant);
}
