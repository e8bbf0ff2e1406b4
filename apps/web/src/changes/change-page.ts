import type { PlantChange, StoredPlant } from '@plant-store/schemas';

/** Plants of a list that were loaded together. The page ends at the id `next`, or at the end of the list. */
interface LoadedPage {
  readonly plants: StoredPlant[];
  readonly next?: bigint | undefined;
}

/**
 * Selects the plants of a page. Their ids are greater than `after`. With a `tag`, each plant has this tag.
 */
export interface PageQuery {
  readonly after?: bigint | undefined;
  readonly tag?: string | undefined;
}

/**
 * Applies changes to a page. Returns the same page when no change concerns it. A change can be applied twice,
 * so the response of the store may already contain it.
 */
export function changePage(
  page: LoadedPage,
  query: PageQuery,
  changes: readonly PlantChange[],
): LoadedPage {
  const { after = before, next = behind } = { after: query.after, next: page.next };
  const concerned = changes.filter(({ plant: { id } }) => id > after && id <= next);
  if (concerned.length === 0) return page;
  const plants = new Map(page.plants.map((plant) => [plant.id, plant]));
  let isChanged = false;
  for (const change of concerned) {
    const { plant } = change;
    const known = plants.get(plant.id);
    const isListed = change.type === 'created' && hasTag(plant, query.tag);
    if (isListed ? known && isSame(known, plant) : !known) continue;
    isChanged = true;
    if (isListed) plants.set(plant.id, plant);
    else plants.delete(plant.id);
  }
  if (!isChanged) return page;
  return { ...page, plants: [...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Ids outside the range of int64. */
const [before, behind] = [-(2n ** 64n), 2n ** 64n];

/** Counts how much the changes increase the number of all plants, or of the plants with a tag. */
export function countChange(tag: string | undefined, changes: readonly PlantChange[]): number {
  const fitting = changes.filter(({ plant }) => hasTag(plant, tag));
  return fitting.reduce((sum, { type }) => sum + (type === 'created' ? 1 : -1), 0);
}

function hasTag(plant: StoredPlant, tag: string | undefined): boolean {
  return tag === undefined || plant.tag === tag;
}

/** Whether two plants with one id are the same. After a delete, another plant can get the id. */
function isSame(one: StoredPlant, other: StoredPlant): boolean {
  return one.createdAt.getTime() === other.createdAt.getTime();
}
