import { useState } from 'react';
import type { usePlantPages } from './use-plant-pages.ts';

type Pages = ReturnType<typeof usePlantPages>;

/**
 * A row, and the id of the plant in the row. The id is undefined while the plant is not loaded. The plant
 * moves to another row when earlier plants are created or deleted.
 */
export interface Place {
  readonly row: number;
  readonly id: bigint | undefined;
}

export function placeOf(row: number, { plantAt }: Pick<Pages, 'plantAt'>): Place {
  return { row, id: plantAt(row)?.id };
}

/** Returns the current row of a plant. If the plant is not loaded, returns the earlier row. */
export function rowOf({ row, id }: Place, pages: Pick<Pages, 'rowOf'>): number {
  return (id === undefined ? undefined : pages.rowOf(id)) ?? row;
}

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
