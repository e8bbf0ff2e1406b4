import type { Outcome } from '../fixtures/callers.ts';
import type { Operation } from './checker.ts';
import type { Action, State } from './register.ts';

interface TestPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

/** The calls that a client makes. */
export type Request =
  | { readonly procedure: 'createPlant'; readonly input: TestPlant }
  | { readonly procedure: 'getPlant' | 'deletePlant'; readonly input: { readonly id: number } }
  | {
      readonly procedure: 'listPlants';
      readonly input: { readonly after: number; readonly limit: number };
    };

/** A request of a client, with the result of the request. */
export interface Call {
  readonly client: number;
  /** The name of the instance that got the request. */
  readonly instance: string;
  readonly surface: string;
  readonly request: Request;
  /** Milliseconds from the start of the history to the request. */
  readonly start: number;
  /** Milliseconds until the instance could read the request. A frozen instance reads nothing. */
  readonly arrival: number;
  /** Milliseconds until the response, or until the client gave up. */
  readonly end: number;
  /** The outcome of the call, or undefined without a response. */
  readonly outcome: Outcome | undefined;
}

/**
 * A request can take effect only within this many milliseconds after its arrival. The number is the sum of
 * the deadline, a second for the cancellation, and an allowance for a busy machine. Clients also wait
 * this long for a response.
 */
export const effectLimit = 5_000 + 1_000 + 500;

/** A fault, with its start and end in milliseconds since the start of the history. */
interface Period {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** After the end of a slow flush, a waiting commit takes effect within this many milliseconds. */
const flushLimit = 1_000;

/** An operation, with the call that caused the operation. */
export interface CallOperation extends Operation {
  readonly call: Call;
}

/** Returns whether the store rejected a call. A rejected call certainly has no effect. */
export const isRejected = ({ outcome }: Call): boolean => outcome?.error === 50301;

/** After no response, and after the error 50300, nobody knows whether the call had an effect. */
export const isUnknown = ({ outcome }: Call): boolean => !outcome || outcome.error === 50300;

/** Returns the calls with a response that the store must not send. */
export function unexpectedCalls(calls: readonly Call[]): Call[] {
  return calls.filter((call) => {
    const { status = 0, error = status } = call.outcome ?? {};
    return (
      !isUnknown(call) && !isRejected(call) && !expected[call.request.procedure].includes(error)
    );
  });
}

/** The statuses and error codes of the results. A delete gets 204 over REST, and 200 over tRPC. */
const expected: Record<Request['procedure'], number[]> = {
  createPlant: [200, 40900],
  getPlant: [200, 40401],
  deletePlant: [200, 204, 40401],
  listPlants: [200],
};

/**
 * Returns the effects of the calls on each id. A call that lists a page is a read of each id in the range of
 * the page.
 *
 * @param faults the faults during the calls, because a slow flush delays the effects of calls
 */
export function operationsById(
  calls: readonly Call[],
  ids: readonly number[],
  faults: readonly Period[] = [],
): Map<number, CallOperation[]> {
  const flushes = faults.filter(({ name }) => name.startsWith('slowFlush'));
  const byId = new Map<number, CallOperation[]>(ids.map((id) => [id, []]));
  for (const call of calls) {
    if (isRejected(call)) continue;
    const isCertain = !isUnknown(call);
    const limit = call.arrival + effectLimit;
    const during = flushes.filter(({ start, end }) => start < limit && end > call.arrival);
    const lastEnd = Math.max(limit, ...during.map(({ end }) => end + flushLimit));
    const end = isCertain ? call.end : lastEnd;
    for (const { id, action } of actionsOf(call, ids)) {
      byId.get(id)?.push({ action, start: call.start, end, isCertain, call });
    }
  }
  return byId;
}

function actionsOf(call: Call, ids: readonly number[]): { id: number; action: Action }[] {
  const { request, outcome } = call;
  switch (request.procedure) {
    case 'createPlant': {
      const response = outcome?.error === 40900 ? 'taken' : 'stored';
      const result = isUnknown(call) ? 'unknown' : response;
      const content = contentOf(request.input);
      return [{ id: request.input.id, action: { type: 'create', content, result } }];
    }
    case 'deletePlant': {
      const response = outcome?.error === 40401 ? 'absent' : 'deleted';
      const result = isUnknown(call) ? 'unknown' : response;
      return [{ id: request.input.id, action: { type: 'delete', result } }];
    }
    case 'getPlant': {
      if (isUnknown(call)) return [];
      const state = outcome?.error ? null : contentOf(outcome?.output as TestPlant);
      return [{ id: request.input.id, action: { type: 'read', state } }];
    }
    case 'listPlants':
      return isUnknown(call) ? [] : readsOf(request.input, outcome?.output as Page, ids);
  }
}

interface Page {
  plants: { id: bigint; name: string; tag?: string }[];
  next?: bigint;
}

function readsOf({ after }: { after: number }, { plants, next }: Page, ids: readonly number[]) {
  const contents = new Map<number, State>(
    plants.map((plant) => [Number(plant.id), contentOf(plant)]),
  );
  const last = Number(next ?? Number.POSITIVE_INFINITY);
  return ids
    .filter((id) => id > after && id <= last)
    .map((id) => ({ id, action: { type: 'read' as const, state: contents.get(id) ?? null } }));
}

export const contentOf = ({ name, tag }: { name: string; tag?: string }): string =>
  tag === undefined ? name : `${name} (${tag})`;
