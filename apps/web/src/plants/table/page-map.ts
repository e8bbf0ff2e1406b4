/** A page of plants that was loaded at least once. Its plants may have left the memory since. */
interface KnownPage {
  /** The page has plants with greater ids; undefined for the first plants of all. */
  readonly after: bigint | undefined;
  /** The row of its first plant. */
  readonly firstRow: number;
  readonly rowCount: number;
}

/**
 * The position of each page in a list. The store finds a page by the id before it, so the map grows
 * page by page. A million plants need two thousand entries.
 */
export interface PageMap {
  readonly pages: readonly KnownPage[];
  /** Where the first unknown page starts; undefined when all pages are known. */
  readonly frontier: { readonly after: bigint | undefined } | undefined;
}

/** The map of a list that starts after an id. */
export function emptyPageMap(after: bigint | undefined): PageMap {
  return { pages: [], frontier: { after } };
}

/** The number of rows that are known so far. */
export function knownRows({ pages }: PageMap): number {
  const last = pages.at(-1);
  return last ? last.firstRow + last.rowCount : 0;
}

/** Adds the reply for the page at an index. Returns the same map when the reply changes nothing. */
export function learnPage(
  map: PageMap,
  index: number,
  { rowCount, next }: { rowCount: number; next: bigint | undefined },
): PageMap {
  const after = startOf(map, index);
  const known = map.pages[index];
  const following = map.pages[index + 1] ?? (known && map.frontier);
  const isSameEnd = known && (following ? following.after === next : next === undefined);
  if (isSameEnd && known.rowCount === rowCount) return map;

  const firstRow = known?.firstRow ?? knownRows(map);
  const page = { after, firstRow, rowCount };
  const before = map.pages.slice(0, index);
  if (!isSameEnd) {
    // Plants were created or deleted. The later pages start at other ids and are loaded again.
    return { pages: [...before, page], frontier: next === undefined ? undefined : { after: next } };
  }
  const shift = rowCount - known.rowCount;
  const behind = map.pages
    .slice(index + 1)
    .map((each) => ({ ...each, firstRow: each.firstRow + shift }));
  return { ...map, pages: [...before, page, ...behind] };
}

/** The id after which a page starts: that of a known page, or of the first unknown one. */
export function startOf({ pages, frontier }: PageMap, index: number): bigint | undefined {
  return (pages[index] ?? frontier)?.after;
}

/** The index of the page that has a row; for a row beyond the known ones, of the first unknown page. */
export function pageAt({ pages }: PageMap, row: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const page = pages[middle];
    if (page && page.firstRow + page.rowCount <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}
