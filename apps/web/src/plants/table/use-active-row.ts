import { useState } from 'react';
import type { usePlantPages } from './use-plant-pages.ts';

type Pages = ReturnType<typeof usePlantPages>;

/** A row, with its plant where that is loaded. Other plants that come and go move the plant to other rows. */
export interface Place {
  readonly row: number;
  readonly id: bigint | undefined;
}

export function placeOf(row: number, { plantAt }: Pick<Pages, 'plantAt'>): Place {
  return { row, id: plantAt(row)?.id };
}

/** The present row of a place. */
export function rowOf({ row, id }: Place, pages: Pick<Pages, 'rowOf'>): number {
  return (id === undefined ? undefined : pages.rowOf(id)) ?? row;
}

/** The row on which the keys act, and the function that sets it. */
export function useActiveRow(pages: Pages): [number, (row: number) => void] {
  const [place, setPlace] = useState<Place>({ row: 0, id: undefined });
  return [rowOf(place, pages), (row) => setPlace(placeOf(row, pages))];
}
