/** A page of plants that was loaded at least once. The plants may no longer be in memory. */
interface KnownPage {
  /** The plants have ids greater than `after`. `after` is undefined for the first page of the list. */
  readonly after: bigint | undefined;
  /** The row of the page's first plant: negative before the plant at which the list was opened. */
  readonly firstRow: number;
  readonly rowCount: number;
}

/**
 * The position of each page in a list. The map grows by one page at a time, because a request for a page
 * needs the last id of the previous page.
 */
export interface PageMap {
  readonly pages: readonly KnownPage[];
  /** The start of the first unknown page, or undefined when the end of the list is known. */
  readonly frontier: { readonly after: bigint | undefined } | undefined;
}

/** A response of the store, with plants in ascending order of ids. The next page begins after `next`. */
interface PageResponse {
  readonly plants: readonly { readonly id: bigint }[];
  readonly next?: bigint | undefined;
}

/** Makes a map without pages, for a list that begins after an id. */
export function emptyPageMap(after: bigint | undefined): PageMap {
  return { pages: [], frontier: { after } };
}

/** Returns the first known row. */
export function firstRow({ pages }: PageMap): number {
  return pages[0]?.firstRow ?? 0;
}

/** Returns the row after the last known row. */
export function endRow({ pages }: PageMap): number {
  const last = pages.at(-1);
  return last ? last.firstRow + last.rowCount : 0;
}

/** A plant that stays in its row when earlier plants are created or deleted. */
export interface Anchor {
  readonly row: number;
  readonly id: bigint;
}

/** Adds a response as the page at an index. Returns the same map when the response changes nothing. */
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
    // After deletes in this page, the response may contain some plants of the next page.
    const isAfterPage = (id: bigint) => end !== undefined && id > end;
    const rows = plants.filter(({ id }) => !isAfterPage(id));
    return moveRows(map, index, { ...known, ...placeRows(known, rows, anchor) });
  }
  // Created plants have moved the end of this page, so the table loads the later pages again.
  const page = {
    after: startOf(map, index),
    firstRow: known?.firstRow ?? endRow(map),
    rowCount: plants.length,
  };
  const pages = [...map.pages.slice(0, index), page];
  return { pages, frontier: next === undefined ? undefined : { after: next } };
}

/** Returns the position of a page after its plants have changed. The plant of the anchor stays in its row. */
function placeRows(known: KnownPage, plants: PageResponse['plants'], anchor: Anchor | undefined) {
  const rowCount = plants.length;
  if (!anchor || anchor.row < known.firstRow) return { rowCount };
  const end = known.firstRow + known.rowCount;
  if (anchor.row >= end) return { rowCount, firstRow: end - rowCount };
  const place = plants.findIndex(({ id }) => id >= anchor.id);
  return { rowCount, firstRow: anchor.row - (place === -1 ? rowCount : place) };
}

/** Replaces a page, and moves the rows of the earlier and the later pages. */
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

export function learnEarlierPage(
  map: PageMap,
  { after, rowCount }: { after: bigint | undefined; rowCount: number },
): PageMap {
  const page = { after, firstRow: firstRow(map) - rowCount, rowCount };
  return { ...map, pages: [page, ...map.pages] };
}

/** Returns the id after which a page begins. The page is a known page or the first unknown page. */
export function startOf({ pages, frontier }: PageMap, index: number): bigint | undefined {
  return (pages[index] ?? frontier)?.after;
}

/**
 * Returns the index of the page that contains a row. A row before the known rows belongs to the first page. A
 * row after the known rows belongs to the first unknown page.
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
