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
 * The pixels of the longest text that was drawn in a column. Each row lays out its own columns, so CSS
 * cannot tell. The column never shrinks, because it would jump while somebody scrolls.
 *
 * @param selector finds the texts
 */
export function useTextWidth(selector: string): string {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const texts = document.querySelectorAll(selector);
    const widths = Array.from(texts, (text) => Math.ceil(text.getBoundingClientRect().width));
    setWidth((latest) => Math.max(latest, ...widths));
  });
  return `${width}px`;
}
