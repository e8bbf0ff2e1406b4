import { int64Bounds } from '@plant-store/schemas/plain';

interface Page {
  readonly plants: readonly { readonly id: bigint }[];
  readonly next?: bigint | undefined;
}

/** A page of plants that ends at a given id. The ids in the page are greater than `after`. */
export interface EarlierPage {
  /** The page begins after this id. The id is undefined when the page begins at the start of the list. */
  readonly after: bigint | undefined;
  readonly rowCount: number;
}

/**
 * Finds a page of plants that ends at the id `end`. The store lists plants only in ascending order, so the
 * function guesses the start of the page, and guesses again when the page has no plants or too many plants.
 *
 * @param distance the first guess of the difference between the ids at the start and at the end
 */
export async function findEarlierPage(
  list: (after: bigint | undefined) => Promise<Page>,
  end: bigint,
  distance: bigint,
): Promise<EarlierPage> {
  let short = 0n; // The greatest tried distance that found no plants.
  let long: bigint | undefined; // The smallest tried distance that found too many plants.
  for (let tried = distance; ; ) {
    const after = end - tried < int64Bounds.minimum ? undefined : end - tried;
    const { plants, next } = await list(after);
    const reachesEnd = next === undefined || next >= end;
    const rowCount = plants.findLastIndex(({ id }) => id <= end) + 1;
    if (reachesEnd && (rowCount > 0 || after === undefined)) return { after, rowCount };
    // No shorter distance is left to try, because a single plant can fill a page.
    if (!reachesEnd && tried - short <= 1n) return { after, rowCount };
    if (reachesEnd) short = tried;
    else long = tried;
    tried = between(short, long);
  }
}

/**
 * Finds the id of the last plant in a list, and sends only a few requests.
 *
 * @param from the id of any plant in the list.
 * @param distance the first guess of the difference between `from` and the last id
 */
export async function findLastId(
  list: (after: bigint) => Promise<Page>,
  from: bigint,
  distance: bigint,
): Promise<bigint> {
  let last = from; // The greatest known id.
  let most: bigint = int64Bounds.maximum; // No plant has a greater id.
  for (let step = distance; ; step *= 16n) {
    const tried = last + step < most ? last + step : last + (most - last) / 2n;
    const { plants, next } = await list(tried);
    last = plants.at(-1)?.id ?? last;
    if (tried === last || (plants.length > 0 && next === undefined)) return last;
    if (plants.length === 0) most = tried;
  }
}

/** Returns the next distance to try. `short` was too short, and `long` was too long. */
function between(short: bigint, long: bigint | undefined): bigint {
  if (long === undefined) return short * 16n;
  if (long > 32n * (short + 1n)) return short === 0n ? long / 16n : short * 16n;
  return (short + long) / 2n;
}

/** Estimates how far apart two ids are when half a page of plants is between the ids. */
export function likelyDistance(plants: Page['plants'], pageSize: number): bigint {
  const [first, last] = [plants[0]?.id, plants.at(-1)?.id];
  if (first === undefined || last === undefined || first === last) return 1_000n;
  return ((last - first) * BigInt(pageSize)) / BigInt(2 * (plants.length - 1)) + 1n;
}
