import { useRef } from 'react';
import { byId, type Selection } from '../selected-plants.ts';
import { type Place, placeOf, rowOf } from './use-active-row.ts';
import type { usePlantPages } from './use-plant-pages.ts';

type Pages = Pick<ReturnType<typeof usePlantPages>, 'plantAt' | 'rowOf' | 'plantsBetween'>;

/** Selects single rows, or all rows from the last chosen row to another row. */
export function useRangeSelection(selection: Selection | undefined, pages: Pages, active: number) {
  const anchor = useRef<Place>(undefined);

  const extend = async (row: number) => {
    anchor.current ??= placeOf(active, pages);
    const start = rowOf(anchor.current, pages);
    const [from, to] = [Math.min(start, row), Math.max(start, row)];
    const plants = await pages.plantsBetween(from, to);
    selection?.onChange((latest) => new Map([...latest, ...byId(plants)]));
  };
  return {
    /** Selects all rows from the last chosen row to this row. */
    extend,
    /** Selects a row, or removes the row from the selection. */
    toggle(row: number, isRange: boolean): void {
      if (isRange) return void extend(row);
      anchor.current = placeOf(row, pages);
      const plant = pages.plantAt(row);
      if (!plant) return;
      selection?.onChange((latest) => {
        const plants = new Map(latest);
        if (!plants.delete(plant.id)) plants.set(plant.id, plant);
        return plants;
      });
    },
    /** Forgets the last chosen row. The next range starts at the active row. */
    restart(): void {
      anchor.current = undefined;
    },
    clear(): void {
      anchor.current = undefined;
      selection?.onChange(() => new Map());
    },
  };
}
