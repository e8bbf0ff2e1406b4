import { useSyncExternalStore } from 'react';
import { type Address, hrefOf, readAddress } from './address.ts';

interface Shown extends Address {
  /** Counts the jumps to another place of the same list. */
  readonly jumps: number;
}

let shown: Shown = { ...readAddress(location.hash), jumps: 0 };
/** The current place. Not in React's state: scrolling changes it, and must not render a view. */
let place = shown.at;
const listeners = new Set<() => void>();

function show(next: Address): void {
  const isJump = next.at !== place;
  place = next.at;
  shown = { ...next, jumps: shown.jumps + Number(isJump) };
  for (const notify of listeners) notify();
}

// Fires on Back, Forward, and links to another fragment.
addEventListener('popstate', () => show(readAddress(location.hash)));

/** Shows another view; Back returns to this one. */
export function go(change: Address): void {
  const next = changed(change);
  history.pushState({ canGoBack: true }, '', urlOf(next));
  show(next);
}

/** Replaces this view by another one, without an entry in the history. */
export function replace(change: Address): void {
  const next = changed(change);
  history.replaceState(history.state, '', urlOf(next));
  show(next);
}

/** Closes the view beside the table as Back does. */
export function closeSheet(): void {
  if (history.state?.canGoBack) history.back();
  else replace({ plant: undefined, sheet: undefined });
}

/** The id at the top of the table. */
export function currentPlace(): bigint | undefined {
  return place;
}

/** Stores the id at the top of the table after scrolling. */
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
