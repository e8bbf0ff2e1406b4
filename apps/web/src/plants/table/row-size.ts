import { useMedia } from '../../controls/use-media.ts';

/** Returns the height of a row in pixels, which depends on the font size in the user's browser. */
export function useRowHeight(): number {
  // On narrow screens, a row has two lines, as in plant-table-narrow.css.
  const isNarrow = useMedia('(width < 48rem)');
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.round(rem * (isNarrow ? 3.25 : 2.25));
}
