/** How a request carries plants, or asks for them. */
export interface RequestFormat {
  readonly method: 'GET' | 'POST';
  /** The id of a stored plant replaces `{id}`. */
  readonly path: string;
  /** The number of plants in a request, or in the reply to a GET. */
  readonly plants: number;
  /** Builds the body from the JSON of each plant. */
  body(plants: readonly string[]): string;
}

export const rest: RequestFormat = {
  method: 'POST',
  path: '/plants',
  plants: 1,
  body: (plants) => plants.join(),
};

/** tRPC's protocol; the input has superjson's format. */
export const trpc: RequestFormat = {
  method: 'POST',
  path: '/trpc/createPlant',
  plants: 1,
  body: (plants) => `{"json":${plants.join()}}`,
};

export const trpcBatch: RequestFormat = {
  method: 'POST',
  path: `/trpc/${Array(10).fill('createPlant').join()}?batch=1`,
  plants: 10,
  body: (plants) => `{${plants.map((plant, call) => `"${call}":{"json":${plant}}`).join()}}`,
};

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
export function bodyParts({ plants, body }: RequestFormat, { name, tag }: PlantFields): string[] {
  const placeholder = '<id>';
  const plant = JSON.stringify({ id: placeholder, name, tag }).replace(
    `"${placeholder}"`,
    placeholder,
  );
  return body(Array(plants).fill(plant)).split(placeholder);
}
