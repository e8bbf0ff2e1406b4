import { setTimeout } from 'node:timers/promises';
import { type Caller, callers } from '../fixtures/callers.ts';
import { type Call, effectLimit, isRejected, isUnknown, type Request } from './history.ts';
import type { Step } from './schedule.ts';
import type { Instance, World } from './world.ts';

/** A client pauses for this many milliseconds before the client repeats a call that had no result. */
const retryPause = 50;

/**
 * Makes clients that behave like real clients. When a call has no result, a client gives up or repeats the
 * request at another instance. After a repetition, the client uses the new instance for a while. The clients
 * record each call.
 */
export function createClients({ token, instances }: World) {
  const calls: Call[] = [];
  const open = new Set<{ instance: Instance; time: number }>();
  const startedAt = performance.now();
  /** Milliseconds since the start of the history. */
  const now = () => performance.now() - startedAt;

  const send = async (client: number, instance: Instance, caller: Caller, request: Request) => {
    const { url, name } = instance;
    if (url === undefined) return undefined;
    const start = now();
    const arrival = { instance, time: start };
    open.add(arrival);
    const { procedure, input } = request;
    const signal = AbortSignal.timeout(effectLimit);
    const outcome = await caller
      .call({ url, token }, procedure, { ...input }, signal)
      .catch(() => undefined);
    open.delete(arrival);
    const times = { start, arrival: arrival.time, end: now() };
    const call: Call = { client, instance: name, surface: caller.name, request, ...times, outcome };
    calls.push(call);
    return call;
  };
  const hasResult = (call: Call | undefined) => call && !isUnknown(call) && !isRejected(call);

  return {
    calls,
    now,
    /** Runs the steps of one client until the history is over. */
    async run(client: number, steps: Iterable<Step>, isOver: () => boolean) {
      let preferred = client;
      for (const { pause, returns, givesUp, caller, request } of steps) {
        if (returns) preferred = client;
        await setTimeout(pause);
        while (!isOver()) {
          const instance = instances[preferred % instances.length] ?? instances[0];
          if (hasResult(await send(client, instance, caller, request)) || givesUp) break;
          preferred++;
          await setTimeout(retryPause);
        }
        if (isOver()) return;
      }
    },
    /** Notes that a frozen instance runs again. Only now, requests to this instance arrive. */
    thawed(instance: Instance) {
      for (const arrival of open) if (arrival.instance === instance) arrival.time = now();
    },
    /**
     * Sends a request to an instance a few times, until a call has a result. Resolves with the last call when
     * no call has a result.
     */
    async insist(instance: Instance, request: Request) {
      let call: Call | undefined;
      for (let attempt = 0; attempt < 5; attempt++) {
        call = await send(0, instance, callers[0], request);
        if (hasResult(call)) return undefined;
        await setTimeout(10 * retryPause);
      }
      return call;
    },
  };
}
