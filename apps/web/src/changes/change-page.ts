import type { PlantChange, StoredPlant } from '@plant-store/schemas';
import type { PlantFilter } from '../address/address.ts';

/** The plants of one response. The next response begins after the id `next`. */
interface LoadedPage {
  readonly plants: StoredPlant[];
  readonly next?: bigint | undefined;
}

/** Selects the plants that a page of the list contains. */
export interface PageQuery extends PlantFilter {
  /** All plants of the page have greater ids than this id. */
  readonly after?: bigint | undefined;
}

/**
 * Applies changes to a page of plants. Returns the same object when the page does not change. Applying a
 * change twice does no harm. Adds no created plants to the results of a search: see `mayLackPlants`.
 */
export function changePage(
  page: LoadedPage,
  query: PageQuery,
  changes: readonly PlantChange[],
): LoadedPage {
  const concerned = changes.filter(({ plant: { id } }) => isInPage(id, page, query));
  if (concerned.length === 0) return page;
  const plants = new Map(page.plants.map((plant) => [plant.id, plant]));
  let isChanged = false;
  for (const change of concerned) {
    const { plant } = change;
    const known = plants.get(plant.id);
    const isKnown = known !== undefined && isSame(known, plant);
    const isCreated = change.type === 'created' && hasTag(plant, query.tag);
    const isListed = isCreated && (isKnown || query.search === undefined);
    if (isListed ? isKnown : !known) continue;
    isChanged = true;
    if (isListed) plants.set(plant.id, plant);
    else plants.delete(plant.id);
  }
  if (!isChanged) return page;
  return { ...page, plants: [...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/**
 * Whether a created plant may match the search of a page. The console cannot be sure, because each database
 * compares upper and lower case outside ASCII in its own way.
 */
export function mayLackPlants(
  page: LoadedPage,
  query: PageQuery,
  changes: readonly PlantChange[],
): boolean {
  const { tag, search } = query;
  if (search === undefined) return false;
  return changes.some(
    ({ type, plant }) =>
      type === 'created' &&
      isInPage(plant.id, page, query) &&
      hasTag(plant, tag) &&
      mayContain(plant.name, search) &&
      !page.plants.some((known) => known.id === plant.id && isSame(known, plant)),
  );
}

function mayContain(name: string, search: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII includes control characters.
  const isAscii = /^[\u0000-\u007f]*$/.test(name + search);
  return !isAscii || name.toLowerCase().includes(search.toLowerCase());
}

function isInPage(id: bigint, page: LoadedPage, query: PageQuery): boolean {
  return id > (query.after ?? before) && id <= (page.next ?? behind);
}

/** `before` is smaller than every valid id, and `behind` is greater than every valid id. */
const [before, behind] = [-(2n ** 64n), 2n ** 64n];

/** Returns the number of created minus deleted plants, of all plants or of the plants with a tag. */
export function countChange(tag: string | undefined, changes: readonly PlantChange[]): number {
  const fitting = changes.filter(({ plant }) => hasTag(plant, tag));
  return fitting.reduce((sum, { type }) => sum + (type === 'created' ? 1 : -1), 0);
}

function hasTag(plant: StoredPlant, tag: string | undefined): boolean {
  return tag === undefined || plant.tag === tag;
}

/** Whether two plants with the same id are the same plant. After a delete, another plant can get the id. */
export function isSame(one: StoredPlant, other: StoredPlant): boolean {
  return one.createdAt.getTime() === other.createdAt.getTime();
}
