import { int64Bounds } from '@plant-store/schemas/plain';

interface Page {
  readonly plants: readonly { readonly id: bigint }[];
  readonly next?: bigint | undefined;
}

/** A page of plants with ids greater than `after`, up to the id at which the page ends. */
export interface EarlierPage {
  /** The id before the page, or undefined when there are no earlier plants. */
  readonly after: bigint | undefined;
  readonly rowCount: number;
}

/**
 * Finds a page of plants that ends at an id. The store lists plants only in ascending order, so the function
 * guesses the start of the page. The function guesses again when the page has no plants or too many plants.
 *
 * @param list returns the page after an id.
 * @param end the greatest id of the page.
 * @param distance the first guess of the distance from the start to the end
 */
export async function findEarlierPage(
  list: (after: bigint | undefined) => Promise<Page>,
  end: bigint,
  distance: bigint,
): Promise<EarlierPage> {
  let short = 0n; // The greatest tried distance from start to end whose page had no plants.
  let long: bigint | undefined; // The smallest tried distance whose page had too many plants.
  for (let tried = distance; ; ) {
    const after = end - tried < int64Bounds.minimum ? undefined : end - tried;
    const { plants, next } = await list(after);
    const reachesEnd = next === undefined || next >= end;
    const rowCount = plants.findLastIndex(({ id }) => id <= end) + 1;
    if (reachesEnd && (rowCount > 0 || after === undefined)) return { after, rowCount };
    // A page of one id cannot be shorter, and a single plant can fill a page.
    if (!reachesEnd && tried - short <= 1n) return { after, rowCount };
    if (reachesEnd) short = tried;
    else long = tried;
    tried = between(short, long);
  }
}

/**
 * Finds the id of the last plant of a list with few requests.
 *
 * @param list returns the page after an id.
 * @param from the id of any plant in the list.
 * @param distance the first guess of the distance from this plant to the end
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

/** Chooses the next distance. */
function between(short: bigint, long: bigint | undefined): bigint {
  if (long === undefined) return short * 16n;
  if (long > 32n * (short + 1n)) return short === 0n ? long / 16n : short * 16n;
  return (short + long) / 2n;
}

/** Estimates the distance that contains half a page of plants, from the distances in the later page. */
export function likelyDistance(plants: Page['plants'], pageSize: number): bigint {
  const [first, last] = [plants[0]?.id, plants.at(-1)?.id];
  if (first === undefined || last === undefined || first === last) return 1_000n;
  return ((last - first) * BigInt(pageSize)) / BigInt(2 * (plants.length - 1)) + 1n;
}
