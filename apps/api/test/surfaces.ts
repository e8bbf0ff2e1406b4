import { formatJson, parseJson } from '@plant-store/schemas';
import type { RunningServer } from './running-server.ts';

type Target = Pick<RunningServer, 'url' | 'token'>;

/** What a surface answers, in terms that both have in common. */
interface Answer {
  status: number;
  headers: Headers;
  /** The plant, or `{ error, message }`. */
  body: unknown;
}

/** A way in over HTTP: it sends the JSON of a plant exactly as it is written. */
interface Surface {
  name: 'REST' | 'tRPC';
  path: string;
  send(server: Target, json: string, headers?: Record<string, string>): Promise<Answer>;
}

const rest: Surface = {
  name: 'REST',
  path: '/plants',
  async send(server, json, headers) {
    const reply = await post(server, '/plants', json, headers);
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  },
};

const trpc: Surface = {
  name: 'tRPC',
  path: '/trpc/createPlant',
  async send(server, json, headers) {
    const reply = await post(server, '/trpc/createPlant', superjsonOf(json), headers);
    const { result, error } = (await reply.json()) as TrpcReply;
    const body = error
      ? { error: error.json.data.error, message: error.json.message }
      : result?.data.json;
    return { status: reply.status, headers: reply.headers, body };
  },
};

/** A plant's JSON as a tRPC client sends it: an id beyond 2^53 is a bigint there, not a number. */
function superjsonOf(json: string): string {
  const { id, ...plant } = Object(attempt(() => parseJson(json)));
  if (typeof id !== 'bigint') return `{"json":${json}}`;
  const values = { id: ['bigint'] };
  return formatJson({ json: { ...plant, id: String(id) }, meta: { values, v: 1 } });
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

interface TrpcReply {
  result?: { data: { json: unknown } };
  error?: { json: { message: string; data: { error: number } } };
}

export const surfaces = [rest, trpc];

export function post(
  { url, token }: Target,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body,
  });
}
