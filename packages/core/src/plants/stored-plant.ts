import type { StoredPlant } from '@plant-store/schemas';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { exactText, withoutDot } from './exact-text.ts';

/** A row of `storedPlantColumns`, as a driver reads it. */
export type StoredPlantRow = [
  id: string | number | bigint,
  name: string,
  tag: string | null,
  createdAt: string | Date,
  ...unknown[],
];

/** Selects the columns of a stored plant, in the order of `StoredPlantRow`. */
export function storedPlantColumns<
  Source extends Record<'id' | 'name' | 'tag' | 'createdAt', PgColumn>,
>({ id, name, tag, createdAt }: Source) {
  return { id, name: exactText(name), tag: exactText(tag), createdAt };
}

export function toStoredPlant([id, name, tag, createdAt]: StoredPlantRow): StoredPlant {
  const plant: StoredPlant = {
    id: BigInt(id),
    name: withoutDot(name),
    createdAt: createdAt instanceof Date ? createdAt : new Date(createdAt),
  };
  if (tag !== null) plant.tag = withoutDot(tag);
  return plant;
}
