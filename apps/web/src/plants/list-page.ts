import type { PlantQuery, PlantStoreClient } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import { filterOf, type PlantFilter } from '../address/address.ts';
import { background } from '../store/trpc.ts';

type List = PlantStoreClient['listPlants']['query'];

/**
 * Loads a page of plants. A request of a search compares only a limited number of names, and may find no
 * plant. `listPage` then sends further requests until a request finds a plant, or until the end of the list.
 */
export async function listPage(
  { listPlants }: Pick<PlantStoreClient, 'listPlants'>,
  input: PlantQuery,
  options?: Parameters<List>[1],
): Promise<Awaited<ReturnType<List>>> {
  let page = await listPlants.query(input, options);
  while (page.plants.length === 0 && page.next !== undefined) {
    const further = { ...input, after: page.next };
    page = await listPlants.query(further, { ...options, ...background.trpc });
  }
  return page;
}

/** Loads all plants that match a filter, one page of plants after another. */
export async function* allPages(
  { listPlants }: Pick<PlantStoreClient, 'listPlants'>,
  filter: PlantFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredPlant[]> {
  const input = { ...filterOf(filter), limit: maxPageSize };
  let place: { after?: bigint } | undefined = {};
  while (place) {
    const page: Awaited<ReturnType<List>> = await listPlants.query(
      { ...input, ...place },
      { ...background.trpc, signal },
    );
    yield page.plants;
    place = page.next === undefined ? undefined : { after: page.next };
  }
}
