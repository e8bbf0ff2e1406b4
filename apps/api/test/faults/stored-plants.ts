import type { Seen } from '@plant-store/test-setup';
import { expect } from 'vitest';

/** A row of the table of plants. */
export interface Row {
  id: number;
  name: string;
  tag: string | null;
}

/** Expects that every acknowledged plant is stored exactly as it was sent. */
export function expectStored(acknowledged: Seen['acknowledged'], rows: readonly Row[]): void {
  const stored = new Map(rows.map((row) => [row.id, row]));
  for (const { id, name, tag = null } of acknowledged) {
    expect(stored.get(id)).toEqual({ id, name, tag });
  }
}
