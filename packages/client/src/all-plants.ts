import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './app-router.ts';
import type { PlantStoreClient } from './plant-store-client.ts';

/** Which plants to list: those with a `tag`, those `after` an id, at most `limit` in a page. */
export type PlantQuery = inferRouterInputs<AppRouter>['listPlants'];

/** A plant as the store has it, with its id and the time of its creation. */
export type StoredPlant = inferRouterOutputs<AppRouter>['listPlants']['plants'][number];

/**
 * Walks all plants of the store, or those of a query, ascending by id. It asks for a page when the
 * loop needs one, and for none after a `break`.
 *
 * While other clients create and delete plants, it meets every plant that was there throughout
 * exactly once.
 *
 * @throws what a call throws; pass it to `plantStoreError`. The id of the last plant is then the
 *   `after` to go on from.
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
