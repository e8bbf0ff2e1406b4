import { useSyncExternalStore } from 'react';

/** On narrow screens, a row has two lines, as in plant-table.css. */
const narrow = matchMedia('(width < 48rem)');

/** Returns the height of a row in pixels, which depends on the font size in the user's browser. */
export function useRowHeight(): number {
  return useSyncExternalStore(subscribe, rowHeight);
}

function rowHeight(): number {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.round(rem * (narrow.matches ? 3.25 : 2.25));
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}
