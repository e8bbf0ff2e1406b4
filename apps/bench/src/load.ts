import autocannon from 'autocannon';

/** A kind of request. The load generator writes the next id into each `{id}` of `path` and `body`. */
export interface RequestKind {
  readonly path: string;
  /** Without a body, the request is a GET. */
  readonly body?: string;
  /** The number of plants that a request creates. */
  readonly creates: number;
}

const plant = '{"id":{id},"name":"Monstera deliciosa","tag":"Araceae"}';
/** superjson writes a bigint as text. */
const trpcPlant = `{"json":${plant.replace('{id}', '"{id}"')},"meta":{"values":{"id":["bigint"]},"v":1}}`;
const trpcPlants = Array.from({ length: 10 }, (_, call) => `"${call}":${trpcPlant}`);
const trpcPage =
  '{"json":{"after":"{id}","limit":100},"meta":{"values":{"after":["bigint"]},"v":1}}';
const trpcInput = encodeURIComponent(trpcPage).replace('%7Bid%7D', '{id}');

export const rest = {
  create: { path: '/plants', body: plant, creates: 1 },
  batch: { path: '/plants/batch', body: `{"plants":[${Array(1000).fill(plant)}]}`, creates: 1000 },
  list: { path: '/plants?after={id}&limit=100', creates: 0 },
  longList: { path: '/plants?after={id}&limit=1000', creates: 0 },
  get: { path: '/plants/{id}', creates: 0 },
};

export const trpc = {
  create: { path: '/trpc/createPlant', body: trpcPlant, creates: 1 },
  creates: {
    path: `/trpc/${Array(10).fill('createPlant')}?batch=1`,
    body: `{${trpcPlants}}`,
    creates: 10,
  },
  list: { path: `/trpc/listPlants?input=${trpcInput}`, creates: 0 },
};

/** An odd number near 2^64 ÷ φ, so that its multiples modulo 2^64 differ and are evenly spread. */
const factor = 0x9e37_79b9_7f4a_7c15n;
const storedPlants = 100_000;

/** The SQL that stores the plants that the reads request. */
export const storePlants = `
  insert into plants (id, name, tag)
  select mod(n * ${factor}::numeric + 2::numeric ^ 63, 2::numeric ^ 64) - 2::numeric ^ 63,
    'Monstera deliciosa ' || n, case when n % 2 = 0 then 'Araceae' end
  from generate_series(0, ${storedPlants - 1}::bigint) as n order by 1`;

/** The access token that every contender accepts. */
export const accessToken = 'token-of-the-benchmark';

/**
 * Returns a function that sends requests of one kind for a number of seconds. Each connection sends one
 * request at a time. The ids of creates are spread over all of int64, or are 1, 2, 3 and so on with
 * `smallIds`. Reads use the ids of `storePlants`.
 */
export function loadOf(url: string, { path, body, creates }: RequestKind, smallIds: boolean) {
  let n = 0;
  const nextId = () => {
    if (creates > 0 && smallIds) return String(++n);
    const row = creates > 0 ? storedPlants + n++ : n++ % storedPlants;
    return String(BigInt.asIntN(64, BigInt(row) * factor));
  };
  const [start = '', ...rest] = (body ?? '').split('{id}');
  const setupRequest = (request: autocannon.Request) => ({
    ...request,
    path: path.replace('{id}', nextId),
    ...(body && { body: start + rest.map((part) => nextId() + part).join('') }),
  });
  const type = body && { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${accessToken}`, ...type };
  const method = body ? 'POST' : 'GET';
  const connections = creates < 1000 ? 32 : 4;
  return async (duration: number) => {
    const options = { url, connections, duration, method, headers, requests: [{ setupRequest }] };
    const result = await autocannon({ ...options, method });
    const errors = result.non2xx + result.errors;
    return { responses: result['2xx'], errors, seconds: result.duration };
  };
}
