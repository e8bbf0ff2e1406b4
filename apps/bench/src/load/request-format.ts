import type { IdOrder } from './ids.ts';

/** The format of a request that sends or reads plants. */
export interface RequestFormat {
  readonly method: 'GET' | 'POST';
  /** The path of the request. The load generator replaces `{id}` by the id of a stored plant. */
  readonly path: string;
  /** The number of plants in a request, or in the response to a GET. */
  readonly plants: number;
  /** Whether the ids can be `bigint`s, which superjson writes as text. */
  readonly takesBigints: boolean;
  /** Builds the body from the JSON of each plant. */
  body(plants: readonly string[], hasBigints?: boolean): string;
}

export const rest: RequestFormat = {
  method: 'POST',
  path: '/plants',
  plants: 1,
  takesBigints: false,
  body: (plants) => plants.join(),
};

/** tRPC's protocol, in which the input has superjson's format. */
export const trpc: RequestFormat = {
  method: 'POST',
  path: '/trpc/createPlant',
  plants: 1,
  takesBigints: true,
  body: ([plant = ''], hasBigints) => inputOf(plant, hasBigints),
};

export const trpcBatch: RequestFormat = {
  method: 'POST',
  path: `/trpc/${Array(10).fill('createPlant').join()}?batch=1`,
  plants: 10,
  takesBigints: true,
  body: (plants, hasBigints) =>
    `{${plants.map((plant, call) => `"${call}":${inputOf(plant, hasBigints)}`).join()}}`,
};

function inputOf(plant: string, hasBigint = false): string {
  return `{"json":${plant}${hasBigint ? ',"meta":{"values":{"id":["bigint"]},"v":1}' : ''}}`;
}

export interface ReadFormats {
  readonly get: RequestFormat;
  /** Requests a list of 100 plants, which begins after a stored plant. */
  readonly list: RequestFormat;
  /** Requests a list of 1,000 plants, which begins after a stored plant. */
  readonly longList: RequestFormat;
}

export const restReads: ReadFormats = {
  get: read('/plants/{id}', 1),
  list: read('/plants?after={id}&limit=100', 100),
  longList: read('/plants?after={id}&limit=1000', 1_000),
};

export const trpcReads: ReadFormats = {
  get: read(trpcQuery('getPlant', { id: '{id}' }, 'id'), 1),
  list: read(trpcQuery('listPlants', { after: '{id}', limit: 100 }, 'after'), 100),
  longList: read(trpcQuery('listPlants', { after: '{id}', limit: 1_000 }, 'after'), 1_000),
};

function read(path: string, plants: number): RequestFormat {
  return { method: 'GET', path, plants, takesBigints: true, body: () => '' };
}

/** Returns the path of a query. superjson writes a `bigint` of the input as text. */
function trpcQuery(procedure: string, json: object, bigint: string): string {
  const input = JSON.stringify({ json, meta: { values: { [bigint]: ['bigint'] }, v: 1 } });
  return `/trpc/${procedure}?input=${encodeURIComponent(input).replace('%7Bid%7D', '{id}')}`;
}

/** All plants of a load have these fields and an id. */
export const plantFields = { name: 'Monstera deliciosa', tag: 'Araceae' };

/** Splits the body of a request at the ids. A load generator then puts its own ids between the parts. */
export function bodyParts({ plants, takesBigints, body }: RequestFormat, order: IdOrder): string[] {
  const hasBigints = takesBigints && order === 'int64';
  const plant = JSON.stringify({ id: '<id>', ...plantFields });
  const all = Array(plants).fill(hasBigints ? plant : plant.replace('"<id>"', '<id>'));
  return body(all, hasBigints).split('<id>');
}
