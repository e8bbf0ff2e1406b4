import { readIdText } from '@plant-store/schemas/plain';
import { sharedState, useSharedState } from '../controls/shared-state.ts';

/** The titles of the views beside the table. Each key is a value of `sheet` in the address. */
export const sheetTitles = {
  add: 'Add a plant',
  import: 'Add files of plants',
  export: 'Export plants',
  requests: 'Requests',
  tokens: 'Access tokens',
} as const;

export type SheetName = keyof typeof sheetTitles;

/** Selects the plants that the list shows. */
export interface PlantFilter {
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** Only plants whose names contain this text. */
  readonly search?: string | undefined;
}

/**
 * The state of the console, which is in the fragment of the address. A browser never sends the fragment, so
 * no log contains names, tags or ids of plants.
 */
export interface Address extends PlantFilter {
  /** The id at the top of the table, or undefined at the start of the table. */
  readonly at?: bigint | undefined;
  readonly plant?: bigint | undefined;
  readonly sheet?: SheetName | undefined;
}

// The cast is safe, because every key of `sheetTitles` is a `SheetName`.
const sheetNames = Object.keys(sheetTitles) as SheetName[];

function readAddress(hash: string): Address {
  const values = new URLSearchParams(hash.slice(1));
  return {
    tag: values.get('tag') ?? undefined,
    search: values.get('search') || undefined,
    at: readIdText(values.get('at') ?? ''),
    plant: readIdText(values.get('plant') ?? ''),
    sheet: sheetNames.find((name) => name === values.get('sheet')),
  };
}

/** Removes undefined properties from a filter. */
export function filterOf({ tag, search }: PlantFilter): PlantFilter {
  return { ...(tag !== undefined && { tag }), ...(search !== undefined && { search }) };
}

/** Returns the link to a state of the console. */
export function hrefOf(address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

interface Shown extends Address {
  /** The number of jumps to another place in the list. */
  readonly jumps: number;
}

const shown = sharedState<Shown>({ ...readAddress(location.hash), jumps: 0 });
/** The id at the top of the table. The id is not in `shown`, so that scrolling renders no view. */
let place = shown.get().at;

function show(next: Address): void {
  const isJump = next.at !== place;
  place = next.at;
  shown.set({ ...next, jumps: shown.get().jumps + Number(isJump) });
}

// The browser sends `popstate` for Back, for Forward, and for links to another fragment.
addEventListener('popstate', () => {
  const next = readAddress(location.hash);
  const { tag, search } = shown.get();
  const isSameList = tag === next.tag && search === next.search;
  const isClosed = viewOf(shown.get()) !== '' && viewOf(next) === '' && isSameList;
  // The user may have scrolled the table since the view opened.
  show(isClosed ? { ...next, at: place } : next);
});

/** Shows another state of the console. The Back button then shows the earlier state again. */
export function go(change: Address): void {
  const next = changed(change);
  const isOpening = viewOf(next) !== viewOf(shown.get());
  history.pushState({ canGoBack: isOpening }, '', urlOf(next));
  show(next);
}

/** Opens a view. The Back button closes the view. */
export function openSheet(sheet: SheetName): void {
  go({ plant: undefined, sheet });
}

/** Opens a plant. If a plant is open already, the new plant replaces the open plant. */
export function openPlant(plant: bigint): void {
  const show = shown.get().plant === undefined ? go : replace;
  show({ plant, sheet: undefined });
}

/** Replaces the current state by another state, without a new entry in the history of the browser. */
export function replace(change: Address): void {
  const next = changed(change);
  history.replaceState(history.state, '', urlOf(next));
  show(next);
}

/** Closes the view beside the table, like the Back button. */
export function closeSheet(): void {
  if (history.state?.canGoBack) history.back();
  else replace({ plant: undefined, sheet: undefined });
}

export function currentPlace(): bigint | undefined {
  return place;
}

/** Stores the id at the top of the table after the user has scrolled. */
export function keepPlace(at: bigint | undefined): void {
  if (at === place) return;
  place = at;
  history.replaceState(history.state, '', urlOf(changed({})));
}

/** Returns a text that identifies the open view beside the table. If no view is open, the text is empty. */
function viewOf({ plant, sheet }: Address): string {
  return plant === undefined ? (sheet ?? '') : 'plant';
}

function changed(change: Address): Address {
  const { jumps: _, ...latest } = shown.get();
  return { ...latest, at: place, ...change };
}

export function useAddress(): Shown {
  return useSharedState(shown);
}

function urlOf(address: Address): string {
  const href = hrefOf(address);
  return location.pathname + location.search + (href === '#' ? '' : href);
}
