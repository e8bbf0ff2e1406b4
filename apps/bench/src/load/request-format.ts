/** How a request carries plants. */
export interface RequestFormat {
  readonly path: string;
  /** The number of plants in a request. */
  readonly plants: number;
  /** Builds the body from the JSON of each plant. */
  body(plants: readonly string[]): string;
}

export const rest: RequestFormat = { path: '/plants', plants: 1, body: (plants) => plants.join() };

/** tRPC's protocol; the input has superjson's format. */
export const trpc: RequestFormat = {
  path: '/trpc/createPlant',
  plants: 1,
  body: (plants) => `{"json":${plants.join()}}`,
};

export const trpcBatch: RequestFormat = {
  path: `/trpc/${Array(10).fill('createPlant').join()}?batch=1`,
  plants: 10,
  body: (plants) => `{${plants.map((plant, call) => `"${call}":{"json":${plant}}`).join()}}`,
};

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
