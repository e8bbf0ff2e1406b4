import { useRef } from 'react';
import { type Place, placeOf, rowOf } from './use-active-row.ts';
import type { usePlantPages } from './use-plant-pages.ts';

/** The selected plants. */
export interface Selection {
  readonly ids: ReadonlySet<bigint>;
  onChange(change: (latest: ReadonlySet<bigint>) => ReadonlySet<bigint>): void;
}

type Pages = Pick<ReturnType<typeof usePlantPages>, 'plantAt' | 'rowOf' | 'idsBetween'>;

/** Selects single rows, or all rows from the last chosen row to another row. */
export function useRangeSelection(selection: Selection | undefined, pages: Pages, active: number) {
  const anchor = useRef<Place>(undefined);

  const extend = async (row: number) => {
    anchor.current ??= placeOf(active, pages);
    const start = rowOf(anchor.current, pages);
    const [from, to] = [Math.min(start, row), Math.max(start, row)];
    const ids = await pages.idsBetween(from, to);
    selection?.onChange((latest) => new Set([...latest, ...ids]));
  };
  return {
    /** Selects all rows from the last chosen row to this row. */
    extend,
    /** Selects a row, or removes the row from the selection. */
    toggle(row: number, isRange: boolean): void {
      if (isRange) return void extend(row);
      const place = placeOf(row, pages);
      anchor.current = place;
      const { id } = place;
      if (id === undefined) return;
      selection?.onChange((latest) => {
        const ids = new Set(latest);
        if (!ids.delete(id)) ids.add(id);
        return ids;
      });
    },
    /** Makes the next range start at the active row. */
    restart(): void {
      anchor.current = undefined;
    },
    clear(): void {
      anchor.current = undefined;
      selection?.onChange(() => new Set());
    },
  };
}
