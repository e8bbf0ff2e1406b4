import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { keepPlace, replace } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { countOf, number, type PlantCount } from '../plant-text.tsx';
import type { RowRange } from './scroll-window.ts';
import './table-position.css';
import type { usePlantPages } from './use-plant-pages.ts';

type Pages = ReturnType<typeof usePlantPages>;

interface TablePositionProps {
  /** The number of plants in the list, or undefined while the number is unknown. */
  total: PlantCount | undefined;
  pages: Pages;
  visible: RowRange;
  /** Makes a known row active. */
  moveTo(row: number): void;
  onStart(): void;
}

/** Says which plants are on the screen, and has buttons that jump to the start and the end of the list. */
export function TablePosition({ total, pages, visible, moveTo, onStart }: TablePositionProps) {
  const { known, ends, lastId } = pages;
  const first = Math.max(known.first, visible.first);
  const last = Math.min(known.end - 1, visible.last);
  const count = ends.start && ends.end ? { count: known.end - known.first, isExact: true } : total;
  const before = ends.start
    ? -known.first
    : ends.end && count
      ? count.count - known.end
      : undefined;
  const toEnd = useMutation({
    mutationFn: lastId,
    onSuccess: (at) => replace({ at }),
  });
  return (
    <div className="table-position help">
      <p>
        {before === undefined
          ? `From the id ${pages.plantAt(first)?.id ?? '…'}`
          : last >= first &&
            `${number.format(before + first + 1)} – ${number.format(before + last + 1)}`}
        {before !== undefined && count && ` of ${countOf(count.count, count)}`}
      </p>
      <p className="table-order">Sorted by id, the only order that is fast for a million plants.</p>
      <Button kind="quiet" icon="first" aria-label="Jump to the start" onClick={onStart} />
      <Button
        kind="quiet"
        icon="last"
        aria-label="Jump to the end"
        disabled={toEnd.isPending}
        onClick={() => (ends.end ? moveTo(known.end - 1) : toEnd.mutate())}
      />
    </div>
  );
}

/** The address changes when the user has not scrolled for this number of milliseconds. */
const pause = 200;

/** After the user has scrolled, stores the id at the top of the table in the address. */
export function useKeptPlace({ ends, known, plantAt }: Pages, visible: RowRange): void {
  const isAtStart = ends.start && visible.first <= known.first;
  const topId = plantAt(visible.first)?.id;
  useEffect(() => {
    if (!isAtStart && topId === undefined) return;
    const timer = setTimeout(() => keepPlace(isAtStart ? undefined : topId), pause);
    return () => clearTimeout(timer);
  }, [isAtStart, topId]);
}
