import { setTimeout } from 'node:timers/promises';
import { callers } from '../fixtures/callers.ts';
import { type Call, effectLimit, isRejected, isUnknown, type Request } from './history.ts';
import type { Step } from './schedule.ts';
import type { Instance, World } from './world.ts';

/** A client pauses for this many milliseconds before the client repeats a call that had no result. */
const retryPause = 50;

/** Clients that call the store and record each call. */
export interface Clients {
  /** Milliseconds since the start of the history. */
  now(): number;
  /** Runs the steps of one client until the history is over. */
  run(client: number, steps: Iterable<Step>, isOver: () => boolean): Promise<void>;
  /**
   * Notes that a frozen instance runs again. Requests to a frozen instance arrive only when the instance runs
   * again.
   */
  thawed(instance: Instance): void;
  /**
   * Sends a request to an instance a few times, until a call has a result. Resolves with the last call when
   * no call has a result.
   */
  insist(instance: Instance, request: Request): Promise<Call | undefined>;
  readonly calls: readonly Call[];
}

/**
 * Makes clients that behave like real clients. When a call has no result, a client gives up or repeats the
 * request at another instance. After a repetition, the client uses the new instance for a while.
 */
export function createClients({ token, instances }: World): Clients {
  const calls: Call[] = [];
  const open = new Set<{ instance: Instance; time: number }>();
  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;

  const send = async (
    client: number,
    instance: Instance,
    step: Pick<Step, 'surface' | 'request'>,
  ) => {
    const { url, name } = instance;
    if (url === undefined) return undefined;
    const { surface, request } = step;
    const caller = callers.find(({ name }) => name === surface) ?? callers[0];
    const start = now();
    const arrival = { instance, time: start };
    open.add(arrival);
    const outcome = await caller
      ?.call(
        { url, token },
        request.procedure,
        { ...request.input },
        AbortSignal.timeout(effectLimit),
      )
      .catch(() => undefined);
    open.delete(arrival);
    const times = { start, arrival: arrival.time, end: now() };
    const call = { client, instance: name, surface, request, ...times, outcome };
    calls.push(call);
    return call;
  };
  const hasResult = (call: Call | undefined) => call && !isUnknown(call) && !isRejected(call);

  return {
    calls,
    now,
    async run(client, steps, isOver) {
      let preferred = client;
      for (const { pause, returns, givesUp, ...step } of steps) {
        if (returns) preferred = client;
        await setTimeout(pause);
        while (!isOver()) {
          const instance = instances[preferred % instances.length] ?? instances[0];
          if (hasResult(await send(client, instance, step)) || givesUp) break;
          preferred++;
          await setTimeout(retryPause);
        }
        if (isOver()) return;
      }
    },
    thawed(instance) {
      for (const arrival of open) if (arrival.instance === instance) arrival.time = now();
    },
    async insist(instance, request) {
      let call: Call | undefined;
      for (let attempt = 0; attempt < 5; attempt++) {
        call = await send(0, instance, { surface: 'REST', request });
        if (hasResult(call)) return undefined;
        await setTimeout(10 * retryPause);
      }
      return call;
    },
  };
}
