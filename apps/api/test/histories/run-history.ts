import { setTimeout } from 'node:timers/promises';
import { isExplainable, unexplainedPart } from './checker.ts';
import { createClients } from './clients.ts';
import { faults } from './faults.ts';
import { type Call, type CallOperation, operationsById, unexpectedCalls } from './history.ts';
import type { Fault, Schedule } from './schedule.ts';
import type { World } from './world.ts';

/** A fault can have late effects, so the clients continue for this many milliseconds after the last fault. */
const aftermath = 1_500;

export interface HistoryResult {
  readonly calls: number;
  /** The faults, with their real start and end times. */
  readonly faults: readonly Fault[];
  /** The calls with a forbidden response, and the calls without a result after the last fault. */
  readonly unexpected: readonly Call[];
  /** The ids with results that no order of the calls explains. */
  readonly unexplained: readonly Unexplained[];
}

interface Unexplained {
  readonly id: number;
  readonly operations: readonly CallOperation[];
}

/** Runs the clients and the faults of a schedule, and checks the calls of the clients. */
export async function runHistory(world: World, schedule: Schedule): Promise<HistoryResult> {
  const ids = [...schedule.ids, ...schedule.keptIds];
  const clients = createClients(world);
  let isOver = false;

  const [first] = world.instances;
  const creates = schedule.keptIds.map((id) => {
    const input = { id, name: 'a plant that stays' };
    return clients.insist(first, { procedure: 'createPlant', input });
  });
  const undecided = await Promise.all(creates);

  const begunAt = clients.now();
  const until = (time: number) => setTimeout(Math.max(0, begunAt + time - clients.now()));
  const caused: Fault[] = [];
  const causeFaults = async () => {
    for (const { name, instance, start, end } of schedule.faults) {
      await until(start);
      const concerned = world.instances[instance] ?? first;
      const causedAt = clients.now();
      const endFault = await faults[name](world, concerned);
      await until(end);
      await endFault();
      caused.push({ name, instance, start: causedAt, end: clients.now() });
      if (name === 'freeze') clients.thawed(concerned);
    }
    await setTimeout(aftermath);
    isOver = true;
  };
  await Promise.all([
    causeFaults(),
    ...Array.from({ length: schedule.clients }, (_, client) =>
      clients.run(client, schedule.steps(client), () => isOver),
    ),
  ]);
  for (const instance of world.instances) {
    const list = { after: (ids[0] ?? 0) - 1, limit: 1_000 };
    undecided.push(await clients.insist(instance, { procedure: 'listPlants', input: list }));
    const gets = ids.map((id) => ({ procedure: 'getPlant' as const, input: { id } }));
    undecided.push(...(await Promise.all(gets.map((get) => clients.insist(instance, get)))));
  }

  const { calls } = clients;
  const unexplained = [...operationsById(calls, ids, caused)].flatMap(([id, operations]) =>
    isExplainable(operations) ? [] : [{ id, operations: unexplainedPart(operations) }],
  );
  const unexpected = [...unexpectedCalls(calls), ...undecided.filter((call) => call !== undefined)];
  return { calls: calls.length, faults: caused, unexpected, unexplained };
}
