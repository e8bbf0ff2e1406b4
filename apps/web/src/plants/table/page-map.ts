/** A page of plants that was loaded at least once. Its plants may no longer be in memory. */
interface KnownPage {
  /** The page has plants with greater ids; undefined for the first plants of all. */
  readonly after: bigint | undefined;
  /** The row of its first plant. Row 0 is where the list was opened, and rows before it are negative. */
  readonly firstRow: number;
  readonly rowCount: number;
}

/**
 * The position of each page in a list. The store finds a page by the id before it, so the map grows
 * page by page. A million plants need two thousand entries.
 */
export interface PageMap {
  readonly pages: readonly KnownPage[];
  /** Where the first unknown page starts; undefined when all pages to the end are known. */
  readonly frontier: { readonly after: bigint | undefined } | undefined;
}

/** A response of the store: plants ascending by id, and the id after which there are more. */
interface PageResponse {
  readonly plants: readonly { readonly id: bigint }[];
  readonly next?: bigint | undefined;
}

/** The map of a list that is opened after an id. */
export function emptyPageMap(after: bigint | undefined): PageMap {
  return { pages: [], frontier: { after } };
}

/** The first known row. */
export function firstRow({ pages }: PageMap): number {
  return pages[0]?.firstRow ?? 0;
}

/** The row after the last known one. */
export function endRow({ pages }: PageMap): number {
  const last = pages.at(-1);
  return last ? last.firstRow + last.rowCount : 0;
}

/** A plant that stays in its row when others come or go before it. */
export interface Anchor {
  readonly row: number;
  readonly id: bigint;
}

/** Adds the response for the page at an index. Returns the same map when the response changes nothing. */
export function learnPage(
  map: PageMap,
  index: number,
  { plants, next }: PageResponse,
  anchor?: Anchor,
): PageMap {
  const known = map.pages[index];
  const end = known && (map.pages[index + 1] ?? map.frontier)?.after;
  const isWhole = end === undefined ? next === undefined : next !== undefined && next >= end;
  if (known && isWhole) {
    // The response also has later plants when some of this page were deleted.
    const isAfterPage = (id: bigint) => end !== undefined && id > end;
    const rows = plants.filter(({ id }) => !isAfterPage(id));
    return moveRows(map, index, { ...known, ...placeRows(known, rows, anchor) });
  }
  // Plants were created. The later pages start at other ids and are loaded again.
  const page = {
    after: startOf(map, index),
    firstRow: known?.firstRow ?? endRow(map),
    rowCount: plants.length,
  };
  const pages = [...map.pages.slice(0, index), page];
  return { pages, frontier: next === undefined ? undefined : { after: next } };
}

/** The rows of a known page with other plants: the rows before the anchor move up, the others down. */
function placeRows(known: KnownPage, plants: PageResponse['plants'], anchor: Anchor | undefined) {
  const rowCount = plants.length;
  if (!anchor || anchor.row < known.firstRow) return { rowCount };
  const end = known.firstRow + known.rowCount;
  if (anchor.row >= end) return { rowCount, firstRow: end - rowCount };
  const place = plants.findIndex(({ id }) => id >= anchor.id);
  return { rowCount, firstRow: anchor.row - (place === -1 ? rowCount : place) };
}

/** Replaces a page, and moves those before and behind it. */
function moveRows(map: PageMap, index: number, page: KnownPage): PageMap {
  const known = map.pages[index] ?? page;
  const up = page.firstRow - known.firstRow;
  const down = up + page.rowCount - known.rowCount;
  if (up === 0 && down === 0) return map;
  const pages = map.pages.map((each, i) =>
    i === index ? page : { ...each, firstRow: each.firstRow + (i < index ? up : down) },
  );
  return { ...map, pages };
}

/** Adds the page before the first known one. */
export function learnEarlierPage(
  map: PageMap,
  { after, rowCount }: { after: bigint | undefined; rowCount: number },
): PageMap {
  const page = { after, firstRow: firstRow(map) - rowCount, rowCount };
  return { ...map, pages: [page, ...map.pages] };
}

/** The id after which a page starts: that of a known page, or of the first unknown one. */
export function startOf({ pages, frontier }: PageMap, index: number): bigint | undefined {
  return (pages[index] ?? frontier)?.after;
}

/**
 * The index of the page that has a row. For a row before or after the known ones, it is that of the first
 * page, or of the first unknown page.
 */
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
