import type { IdOrder } from './load.ts';

/** How a request carries plants, or asks for them. */
export interface RequestFormat {
  readonly method: 'GET' | 'POST';
  /** The id of a stored plant replaces `{id}`. */
  readonly path: string;
  /** The number of plants in a request, or in the reply to a GET. */
  readonly plants: number;
  /** Builds the body from the JSON of each plant. */
  body(plants: readonly string[]): string;
  /** Builds the body from the same JSON with ids as text, for ids that a number cannot hold. */
  bodyWithTextIds?(plants: readonly string[]): string;
}

export const rest: RequestFormat = {
  method: 'POST',
  path: '/plants',
  plants: 1,
  body: (plants) => plants.join(),
};

/** tRPC's protocol; the input has superjson's format, in which a `bigint` is text. */
export const trpc: RequestFormat = {
  method: 'POST',
  path: '/trpc/createPlant',
  plants: 1,
  body: (plants) => numberInput(plants.join()),
  bodyWithTextIds: (plants) => bigintInput(plants.join()),
};

export const trpcBatch: RequestFormat = {
  method: 'POST',
  path: `/trpc/${Array(10).fill('createPlant').join()}?batch=1`,
  plants: 10,
  body: (plants) => batchOf(plants.map(numberInput)),
  bodyWithTextIds: (plants) => batchOf(plants.map(bigintInput)),
};

function numberInput(plant: string): string {
  return `{"json":${plant}}`;
}

function bigintInput(plant: string): string {
  return `{"json":${plant},"meta":{"values":{"id":["bigint"]},"v":1}}`;
}

function batchOf(inputs: readonly string[]): string {
  return `{${inputs.map((input, call) => `"${call}":${input}`).join()}}`;
}

/** The requests that read plants. */
export interface ReadFormats {
  readonly get: RequestFormat;
  /** Asks for the 100 plants after a stored plant. */
  readonly list: RequestFormat;
}

export const restReads: ReadFormats = {
  get: read('/plants/{id}', 1),
  list: read('/plants?after={id}&limit=100', 100),
};

export const trpcReads: ReadFormats = {
  get: read(trpcQuery('getPlant', { id: '{id}' }, 'id'), 1),
  list: read(trpcQuery('listPlants', { after: '{id}', limit: 100 }, 'after'), 100),
};

function read(path: string, plants: number): RequestFormat {
  return { method: 'GET', path, plants, body: () => '' };
}

/** The path of a query, whose input has superjson's format: there, a `bigint` is text. */
function trpcQuery(procedure: string, json: object, bigint: string): string {
  const input = JSON.stringify({ json, meta: { values: { [bigint]: ['bigint'] }, v: 1 } });
  return `/trpc/${procedure}?input=${encodeURIComponent(input).replace('%7Bid%7D', '{id}')}`;
}

/** The fields that all plants of a load share: all but the id. */
export interface PlantFields {
  readonly name: string;
  readonly tag: string;
}

export const defaultPlant: PlantFields = { name: 'Monstera deliciosa', tag: 'Araceae' };

/** Splits a request's body at the ids, so that a load generator only has to join the parts. */
export function bodyParts(
  { plants, body, bodyWithTextIds }: RequestFormat,
  { name, tag }: PlantFields,
  idOrder: IdOrder,
): string[] {
  const placeholder = '<id>';
  const withTextId = JSON.stringify({ id: placeholder, name, tag });
  const withNumber = withTextId.replace(`"${placeholder}"`, placeholder);
  const text =
    idOrder === 'int64' && bodyWithTextIds
      ? bodyWithTextIds(Array(plants).fill(withTextId))
      : body(Array(plants).fill(withNumber));
  return text.split(placeholder);
}
