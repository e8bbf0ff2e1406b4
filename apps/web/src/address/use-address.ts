import { useSyncExternalStore } from 'react';
import { type Address, hrefOf, readAddress, type SheetName } from './address.ts';

interface Shown extends Address {
  /** The number of jumps to another place in the list. */
  readonly jumps: number;
}

let shown: Shown = { ...readAddress(location.hash), jumps: 0 };
/** The id at the top of the table. The id is outside React's state, so that scrolling renders no view. */
let place = shown.at;
const listeners = new Set<() => void>();

function show(next: Address): void {
  const isJump = next.at !== place;
  place = next.at;
  shown = { ...next, jumps: shown.jumps + Number(isJump) };
  for (const notify of listeners) notify();
}

// The browser sends `popstate` for Back, for Forward, and for links to another fragment.
addEventListener('popstate', () => {
  const next = readAddress(location.hash);
  const isClosed = viewOf(shown) !== '' && viewOf(next) === '' && isSameList(shown, next);
  // The user may have scrolled the table since the view opened.
  show(isClosed ? { ...next, at: place } : next);
});

/** Shows another state of the console. The Back button then shows the earlier state again. */
export function go(change: Address): void {
  const next = changed(change);
  const isOpening = viewOf(next) !== viewOf(shown);
  history.pushState({ canGoBack: isOpening }, '', urlOf(next));
  show(next);
}

/** Opens a view. The Back button closes the view. */
export function openSheet(sheet: SheetName): void {
  go({ plant: undefined, sheet });
}

/** Opens a plant. If a plant is open already, the new plant replaces the open plant. */
export function openPlant(plant: bigint): void {
  const show = shown.plant === undefined ? go : replace;
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

function isSameList(one: Address, other: Address): boolean {
  return one.tag === other.tag && one.search === other.search;
}

function changed(change: Address): Address {
  const { jumps: _, ...latest } = shown;
  return { ...latest, at: place, ...change };
}

export function useAddress(): Shown {
  return useSyncExternalStore(subscribe, () => shown);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function urlOf(address: Address): string {
  const href = hrefOf(address);
  return location.pathname + location.search + (href === '#' ? '' : href);
}
