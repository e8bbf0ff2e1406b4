import { readId } from '@plant-store/schemas';
import { useMemo, useSyncExternalStore } from 'react';

/** Selects the plants that have exactly this tag, and each word of the search in the name. */
export interface PlantFilter {
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
}

/**
 * The part of the console's state that a link can contain, in the fragment of the address. A browser never
 * sends the fragment to a server.
 */
export interface Address extends PlantFilter {
  readonly after?: string | undefined;
  readonly plant?: bigint | undefined;
}

/** Returns the state that is in the address bar. */
function readAddress(hash = location.hash): Address {
  const values = new URLSearchParams(hash.slice(1));
  return {
    tag: values.get('tag') ?? undefined,
    search: values.get('search') || undefined,
    after: values.get('after') || undefined,
    plant: readId(values.get('plant') ?? '').id,
  };
}

/** Returns the link to a state of the console. */
export function hrefOf(address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Changes a part of the address. The Back button then shows the earlier state again. */
export function go(change: Address): void {
  location.hash = hrefOf({ ...readAddress(), ...change });
}

export function closePlant(): void {
  go({ plant: undefined });
}

/** Changes a part of the address, without a new entry in the browser's history. */
export function replaceAddress(change: Address): void {
  const href = hrefOf({ ...readAddress(), ...change });
  history.replaceState(null, '', location.pathname + location.search + (href === '#' ? '' : href));
  // The browser fires no event for `replaceState`.
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useAddress(): Address {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => readAddress(hash), [hash]);
}

// All components get a change in the same task, so that React renders none of them with an earlier address.
const listeners = new Set<() => void>();
addEventListener('hashchange', () => {
  for (const tell of listeners) tell();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
