import type { PlantStoreClient } from '@plant-store/client';
import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { defaultPageSize, maxPageSize } from '@plant-store/schemas/plain';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { PlantFilter } from '../ui/address.ts';

/** The list asks for its page again after this number of milliseconds. */
export const refreshInterval = 3_000;

/** A search looks for further plants of its page for at most this number of milliseconds. */
const searchTime = 1_000;

/** A page of the list. The next page begins after `next`. */
export interface ListedPage {
  readonly plants: readonly StoredPlant[];
  readonly next?: string | undefined;
}

interface PageInput extends PlantFilter {
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly limit?: number;
}

/**
 * Loads a page of plants. One request of a search looks at a limited number of plants, and may find few or
 * none, so further requests fill the page.
 */
export async function loadPage(
  client: PlantStoreClient,
  { tag, search, after, limit = defaultPageSize }: PageInput,
  signal?: AbortSignal,
): Promise<ListedPage> {
  const start = performance.now();
  const plants: StoredPlant[] = [];
  let next = after;
  do {
    const input = { tag, search, after: next, limit: limit - plants.length };
    const page = await client.listPlants.query(input, signal && { signal });
    plants.push(...page.plants);
    next = page.next;
    const isLate = plants.length > 0 && performance.now() - start > searchTime;
    if (search === undefined || isLate) break;
  } while (next !== undefined && plants.length < limit);
  return { plants, next };
}

/** Loads all plants that match a filter, one page after another. */
export async function* allPages(
  client: PlantStoreClient,
  filter: PlantFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredPlant[]> {
  let after: string | undefined;
  do {
    const page = await loadPage(client, { ...filter, after, limit: maxPageSize }, signal);
    yield page.plants;
    after = page.next;
  } while (after !== undefined);
}

/** A plant as the user sees it. Only a plant that was loaded alone has an `etag`. */
export type SeenPlant = StoredPlant & { readonly etag?: string };

/** What the user can do with plants, from the list and from an open plant. */
export interface PlantActions {
  /** Opens the form. Another plant can be its start. */
  add(start?: Partial<NewPlant>): void;
  importFile(): void;
  /** Imports the houseplants that come with the store. */
  importSample(): void;
  /** Exports all plants that the list shows. */
  exportList(): void;
  /** Saves loaded plants as a file. */
  save(plants: readonly StoredPlant[]): void;
  remove(plants: readonly SeenPlant[]): void;
}

/** The query for one plant. */
export function plantQuery(client: PlantStoreClient, id: bigint) {
  return queryOptions({
    queryKey: ['plant', String(id)],
    queryFn: ({ signal }) => client.getPlant.query({ id }, { signal }),
  });
}

/** Loads the shown plants and their number again, after this person has changed plants. */
export async function refreshPlants(queryClient: QueryClient): Promise<void> {
  await Promise.all(
    ['plants', 'count', 'plant'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  );
}

/** Returns tags of loaded plants that begin with a text, in upper or lower case. */
export function knownTags(queryClient: QueryClient, text: string): string[] {
  const pages = queryClient.getQueriesData<ListedPage>({ queryKey: ['plants'] });
  const tags = pages.flatMap(([, page]) => page?.plants.flatMap(({ tag }) => tag ?? []) ?? []);
  const start = text.toLowerCase();
  return [...new Set(tags)].filter((tag) => tag.toLowerCase().startsWith(start));
}
