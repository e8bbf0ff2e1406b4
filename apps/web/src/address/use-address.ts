import { useSyncExternalStore } from 'react';
import { type Address, hrefOf, readAddress } from './address.ts';

interface Shown extends Address {
  /** The number of jumps to another place in the list. */
  readonly jumps: number;
}

let shown: Shown = { ...readAddress(location.hash), jumps: 0 };
/** The id at the top of the table. React's state lacks the id, because scrolling must render no view. */
let place = shown.at;
const listeners = new Set<() => void>();

function show(next: Address): void {
  const isJump = next.at !== place;
  place = next.at;
  shown = { ...next, jumps: shown.jumps + Number(isJump) };
  for (const notify of listeners) notify();
}

// The browser sends this event for Back, for Forward, and for links to another fragment.
addEventListener('popstate', () => show(readAddress(location.hash)));

/** Shows another view. The Back button returns to the current view. */
export function go(change: Address): void {
  const next = changed(change);
  history.pushState({ canGoBack: true }, '', urlOf(next));
  show(next);
}

/** Replaces the current view by another view, without a new entry in the history. */
export function replace(change: Address): void {
  const next = changed(change);
  history.replaceState(history.state, '', urlOf(next));
  show(next);
}

/** Closes the view beside the table as the Back button does. */
export function closeSheet(): void {
  if (history.state?.canGoBack) history.back();
  else replace({ plant: undefined, sheet: undefined });
}

/** Returns the id at the top of the table. */
export function currentPlace(): bigint | undefined {
  return place;
}

/** Stores the id at the top of the table after the user has scrolled. */
export function keepPlace(at: bigint | undefined): void {
  if (at === place) return;
  place = at;
  history.replaceState(history.state, '', urlOf(changed({})));
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
