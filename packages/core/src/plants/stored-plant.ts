import type { StoredPlant } from '@plant-store/schemas';
import type { PgColumn } from 'drizzle-orm/pg-core';

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
  return { id, name, tag, createdAt };
}

export function toStoredPlant([id, name, tag, createdAt]: StoredPlantRow): StoredPlant {
  const plant: StoredPlant = {
    id: BigInt(id),
    name,
    createdAt: createdAt instanceof Date ? createdAt : new Date(createdAt),
  };
  if (tag !== null) plant.tag = tag;
  return plant;
}
