import type { Action, Operation } from './checker.ts';
import type { Period, Server } from './world.ts';

export interface Plant {
  readonly name: string;
  readonly tag?: string;
}

/** A request of a client. A list covers the ids from `from` to the end of its page, but none above `to`. */
export type Request =
  | { readonly type: 'create' | 'replace'; readonly id: bigint; readonly plant: Plant }
  | { readonly type: 'delete'; readonly id: bigint }
  | { readonly type: 'get'; readonly id: bigint }
  | {
      readonly type: 'list';
      readonly from: bigint;
      readonly to?: bigint;
      readonly after: string;
      readonly limit: number;
    };

/** A request, its times on the clock `performance.now()`, and the response, if any. */
export interface Call {
  readonly server: Server;
  readonly request: Request;
  readonly start: number;
  readonly end: number;
  readonly response: ApiResponse | undefined;
}

interface ApiResponse {
  readonly status: number;
  readonly body: Body;
}

interface Body extends Partial<Plant> {
  readonly error?: number;
  readonly message?: string;
  readonly plants?: readonly (Plant & { readonly id: bigint })[];
  readonly next?: string;
}

/** A client waits this many milliseconds for a response. The server's deadline is 5 s. */
const patience = 8_000;

/** Sends a request to a server. Ignores a response that is not complete within `patience`. */
export async function callServer(server: Server, request: Request): Promise<Call> {
  const start = performance.now();
  const response = await send(server, ...partsOf(request));
  return { server, request, start, end: performance.now(), response };
}

function partsOf(request: Request): [method: string, path: string, body?: string] {
  switch (request.type) {
    case 'create':
      return ['POST', '/plants', bodyOf(request.plant, request.id)];
    case 'replace':
      return ['PUT', `/plants/${request.id}`, bodyOf(request.plant)];
    case 'delete':
      return ['DELETE', `/plants/${request.id}`];
    case 'get':
      return ['GET', `/plants/${request.id}`];
    case 'list':
      return ['GET', `/plants?after=${encodeURIComponent(request.after)}&limit=${request.limit}`];
  }
}

/** Inserts the id into the text, because `JSON.stringify` cannot write a bigint. */
const bodyOf = (plant: Plant, id?: bigint) =>
  JSON.stringify(plant).replace('{', id === undefined ? '{' : `{"id":${id},`);

/** Sends one HTTP request. Resolves with undefined when no complete response comes. */
export async function send(
  { url, token }: Pick<Server, 'url' | 'token'>,
  method: string,
  path: string,
  body?: string,
): Promise<ApiResponse | undefined> {
  if (url === undefined) return undefined;
  const type = body === undefined ? undefined : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${token}`, ...type };
  const signal = AbortSignal.timeout(patience);
  try {
    const response = await fetch(url + path, { method, headers, signal, body: body ?? null });
    return { status: response.status, body: parse((await response.text()) || '{}') };
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    return undefined;
  }
}

/** Parses JSON. Keeps all digits of an id. */
export const parse = (json: string) =>
  JSON.parse(json, (key, value, context?: { source?: string }) =>
    key === 'id' && typeof value === 'number' ? BigInt(context?.source ?? value) : value,
  );

export const textOf = ({ name, tag }: Plant): string =>
  tag === undefined || tag === null ? name : `${name} (${tag})`;

/** Whether the outcome of the call is unknown. */
export const isUnknown = ({ response }: Call): boolean =>
  response === undefined || response.body.error === 50300;

/**
 * Whether the server rejected the call without any effect: for example because of an overload, or with a 408.
 * After a call that timed out, `fetch` may open a connection without a request. When no request has come for
 * 30 s, the server closes the connection with a 408, even if the client sends a request at that moment.
 */
export const isRejected = (call: Call): boolean =>
  [408, 503].includes(call.response?.status ?? 0) && !isUnknown(call);

export const isCreated = ({ request, response }: Call): boolean =>
  request.type === 'create' && response?.status === 200;

const expected = {
  create: [200, 40900],
  replace: [200, 40401],
  delete: [204, 40401],
  get: [200, 40401],
  list: [200],
};

/** Whether the contract allows the response of a call. */
export function isExpected(call: Call): boolean {
  if (isUnknown(call) || isRejected(call)) return true;
  const { status = 0, body } = call.response ?? {};
  return expected[call.request.type].includes(body?.error ?? status);
}

/**
 * The latest moment at which a call with an unknown outcome may take effect. The limit is the latest of these
 * times: a second after the end of the call, a second after the standby is back and, without a response, 6 s
 * after the call or after a freeze of the server. Each time has a further second for a busy machine.
 */
export function effectLimit({ server, start, end, response }: Call): number {
  const endOf = (periods: readonly Period[]) =>
    periods.filter((each) => each.start < end && each.end > start).map((each) => each.end);
  const confirmed = Math.max(end, ...endOf(server.withoutStandby)) + 1_000 + 1_000;
  if (response) return confirmed;
  return Math.max(
    confirmed,
    ...[end, ...endOf(server.freezes)].map((time) => time + 6_000 + 1_000),
  );
}

/** An operation, and the call that caused the operation. */
export interface CallOperation extends Operation {
  readonly call: Call;
}

/** Returns the operations on each id. A list is a read of each id that the list covers. */
export function operationsById(calls: readonly Call[]): Map<bigint, CallOperation[]> {
  const byId = new Map<bigint, CallOperation[]>();
  for (const { request } of calls) if ('id' in request) byId.set(request.id, []);
  for (const call of calls) {
    if (isRejected(call)) continue;
    const isCertain = !isUnknown(call);
    const end = isCertain ? call.end : effectLimit(call);
    for (const [id, action] of actionsOf(call, byId)) {
      byId.get(id)?.push({ action, start: call.start, end, isCertain, call });
    }
  }
  return byId;
}

function actionsOf(call: Call, ids: ReadonlyMap<bigint, unknown>): [bigint, Action][] {
  const { request, response } = call;
  const body = response?.body ?? {};
  if (request.type !== 'get' && request.type !== 'list') {
    const result = isUnknown(call) ? 'unknown' : body.error ? 'rejected' : 'done';
    if (request.type === 'delete') return [[request.id, { type: 'delete', result }]];
    return [[request.id, { type: request.type, content: textOf(request.plant), result }]];
  }
  if (isUnknown(call)) return [];
  if (request.type === 'get') {
    const state = body.error ? null : textOf({ name: '', ...body });
    return [[request.id, { type: 'read', state }]];
  }
  const contents = new Map(body.plants?.map((plant) => [plant.id, textOf(plant)]));
  const last = body.next === undefined ? undefined : body.plants?.at(-1)?.id;
  return idsOf(request, ids)
    .filter((id) => id >= request.from && (last === undefined || id <= last))
    .map((id) => [id, { type: 'read', state: contents.get(id) ?? null }]);
}

function idsOf({ from, to }: { from: bigint; to?: bigint }, known: ReadonlyMap<bigint, unknown>) {
  if (to === undefined) return [...known.keys()];
  const ids = Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i));
  return ids.filter((id) => known.has(id));
}

/** Returns one line about a call, for the report of a failed history. */
export function lineOf({ server, request, start, end, response }: Call, origin: number): string {
  const [from, to] = [start, end].map((time) => ((time - origin) / 1_000).toFixed(2).padStart(6));
  const { type } = request;
  const what = 'id' in request ? `${type} ${request.id}` : `list from ${request.from}`;
  const plant = 'plant' in request ? ` ${textOf(request.plant)}` : '';
  const { status, body } = response ?? {};
  const read =
    body?.name === undefined || type !== 'get' ? '' : ` ${textOf({ name: '', ...body })}`;
  return `${from} – ${to} s at ${server.name}: ${what}${plant} → ${body?.error ?? status ?? 'no response'}${read}`;
}
