import { useSyncExternalStore } from 'react';

/** A row has two lines there, as in plant-table.css. */
const narrow = matchMedia('(width < 48rem)');

/** The pixels of a row. They follow the size of the font that somebody prefers. */
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
