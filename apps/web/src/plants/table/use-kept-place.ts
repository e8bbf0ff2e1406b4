import { useEffect } from 'react';
import { keepPlace } from '../../address/address.ts';
import type { RowRange } from './scroll-window.ts';
import type { usePlantPages } from './use-plant-pages.ts';

/** The address changes when the user has not scrolled for this number of milliseconds. */
const pause = 200;

/** After the user has scrolled, stores the id at the top of the table in the address. */
export function useKeptPlace(
  { ends, known, plantAt }: ReturnType<typeof usePlantPages>,
  visible: RowRange,
): void {
  const isAtStart = ends.start && visible.first <= known.first;
  const topId = plantAt(visible.first)?.id;
  useEffect(() => {
    if (!isAtStart && topId === undefined) return;
    const timer = setTimeout(() => keepPlace(isAtStart ? undefined : topId), pause);
    return () => clearTimeout(timer);
  }, [isAtStart, topId]);
}
