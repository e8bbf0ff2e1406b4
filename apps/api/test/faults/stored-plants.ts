import { expect } from 'vitest';

/** A row of the table of plants. */
export interface Row {
  id: number;
  name: string;
  tag: string | null;
}

/** A plant that a client has sent. */
type Sent = Omit<Row, 'tag'> & { tag?: string | null };

/** Expects that every acknowledged plant is stored exactly as it was sent. */
export function expectStored(acknowledged: readonly Sent[], rows: readonly Row[]): void {
  expect(missingPlants(acknowledged, rows)).toEqual([]);
}

/** Returns the acknowledged plants that are not stored as they were sent. */
export function missingPlants(acknowledged: readonly Sent[], rows: readonly Row[]): Sent[] {
  const stored = new Map(rows.map((row) => [row.id, row]));
  return acknowledged.filter(({ id, name, tag = null }) => {
    const row = stored.get(id);
    return row?.name !== name || row.tag !== tag;
  });
}
