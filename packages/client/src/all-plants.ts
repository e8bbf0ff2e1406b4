import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './app-router.ts';
import type { PlantStoreClient } from './plant-store-client.ts';

/**
 * Selects the plants that have this `tag`, have `search` in the name, and have an id greater than `after`. A
 * page has at most `limit` plants.
 */
export type PlantQuery = inferRouterInputs<AppRouter>['listPlants'];

/** A plant in the store, with its id and the time of its creation. */
export type StoredPlant = inferRouterOutputs<AppRouter>['listPlants']['plants'][number];

/**
 * Yields all plants of the store, or the plants that match a query, ascending by id. The function requests a
 * page only when the loop needs more plants, so a `break` ends the requests. A plant that exists during the
 * whole loop is yielded exactly once, even when other clients create and delete plants.
 *
 * @throws the error of a call: see `plantStoreError`. To continue, pass the id of the last plant as `after`.
 */
export async function* allPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  query: PlantQuery = {},
): AsyncGenerator<StoredPlant, void> {
  let { after } = query;
  do {
    const page = await client.listPlants.query({ ...query, after });
    yield* page.plants;
    after = page.next;
  } while (after !== undefined);
}
