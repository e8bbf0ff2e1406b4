import { useRef, useState } from 'react';
import { byId, type Selection } from '../selected-plants.ts';
import type { usePlantPages } from './use-plant-pages.ts';

type Pages = ReturnType<typeof usePlantPages>;

/**
 * Returns the row on which the keys act, and a function that sets this row. When a button opens another
 * plant, the row of the opened plant becomes the active row.
 */
export function useActiveRow(
  pages: Pages,
  open: bigint | undefined,
): [number, (row: number) => void] {
  const [place, setPlace] = useState<Place>({ row: 0, id: undefined });
  const setRow = (row: number) => setPlace(placeOf(row, pages));
  const openRow = open === undefined ? undefined : pages.rowOf(open);
  const [lastOpenRow, setLastOpenRow] = useState(openRow);
  if (openRow !== lastOpenRow) {
    setLastOpenRow(openRow);
    if (openRow !== undefined) setRow(openRow);
  }
  return [rowOf(place, pages), setRow];
}

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

/**
 * A row, and the id of the plant in the row. The id is undefined while the plant is not loaded. The plant
 * moves to another row when earlier plants are created or deleted.
 */
interface Place {
  readonly row: number;
  readonly id: bigint | undefined;
}

function placeOf(row: number, { plantAt }: Pages): Place {
  return { row, id: plantAt(row)?.id };
}

/** Returns the current row of a plant. If the plant is not loaded, returns the earlier row. */
function rowOf({ row, id }: Place, pages: Pages): number {
  return (id === undefined ? undefined : pages.rowOf(id)) ?? row;
}
