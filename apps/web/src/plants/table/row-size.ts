import { useLayoutEffect, useState, useSyncExternalStore } from 'react';

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

/**
 * Returns the greatest width in pixels of the texts that a column has shown. Each row is a grid of its own,
 * so CSS cannot align the columns. The width never shrinks, so that columns do not jump while the user
 * scrolls.
 *
 * @param selector finds the texts of the column
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
