import { useLayoutEffect, useState, useSyncExternalStore } from 'react';

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

/**
 * The pixels of the longest name that was drawn. Each row lays out its own columns, so CSS cannot tell.
 * The column never shrinks, because it would jump while somebody scrolls.
 */
export function useNameWidth(): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const names = document.querySelectorAll('.plant-row .plant-name > *');
    const widths = Array.from(names, (name) => Math.ceil(name.getBoundingClientRect().width));
    setWidth((latest) => Math.max(latest, ...widths));
  });
  return width;
}
