/** How plants are written into one request. */
export interface Wire {
  readonly path: string;
  /** Plants in a request. */
  readonly plants: number;
  /** The body that carries these plants, each given as its JSON. */
  body(plants: readonly string[]): string;
}

export const rest: Wire = { path: '/plants', plants: 1, body: (plants) => plants.join() };

/** tRPC's protocol with superjson around each input. */
export const trpc: Wire = {
  path: '/trpc/createPlant',
  plants: 1,
  body: (plants) => `{"json":${plants.join()}}`,
};

export const trpcBatch: Wire = {
  path: `/trpc/${Array(10).fill('createPlant').join()}?batch=1`,
  plants: 10,
  body: (plants) => `{${plants.map((plant, call) => `"${call}":{"json":${plant}}`).join()}}`,
};

/** What every plant of a load is but for its id. */
export interface Content {
  readonly name: string;
  readonly tag: string;
}

export const usualPlant: Content = { name: 'Monstera deliciosa', tag: 'Araceae' };

/** A request's body, cut where the ids go, so that a load generator has only to join. */
export function bodyPieces({ plants, body }: Wire, { name, tag }: Content): string[] {
  const cut = '<id>';
  const plant = JSON.stringify({ id: cut, name, tag }).replace(`"${cut}"`, cut);
  return body(Array(plants).fill(plant)).split(cut);
}
