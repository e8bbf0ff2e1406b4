import type { PlantChange, StoredPlant } from '@plant-store/schemas';

/** Plants of a list from one response. The page ends at the id `next`, or at the end of the list. */
interface LoadedPage {
  readonly plants: StoredPlant[];
  readonly next?: bigint | undefined;
}

/** Selects the plants of a page. The plants have ids greater than `after`, and this `tag`. */
export interface PageQuery {
  readonly after?: bigint | undefined;
  readonly tag?: string | undefined;
}

/**
 * Applies changes to a page. Returns the same page when no change concerns the page. It is safe to apply a
 * change that the page already contains.
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

/** These ids are outside the range of int64. */
const [before, behind] = [-(2n ** 64n), 2n ** 64n];

/** Returns how much changes increase the number of plants. With a tag, counts only plants with this tag. */
export function countChange(tag: string | undefined, changes: readonly PlantChange[]): number {
  const fitting = changes.filter(({ plant }) => hasTag(plant, tag));
  return fitting.reduce((sum, { type }) => sum + (type === 'created' ? 1 : -1), 0);
}

function hasTag(plant: StoredPlant, tag: string | undefined): boolean {
  return tag === undefined || plant.tag === tag;
}

/** Whether two plants with the same id are the same plant. After a delete, another plant can get the id. */
function isSame(one: StoredPlant, other: StoredPlant): boolean {
  return one.createdAt.getTime() === other.createdAt.getTime();
}
