import { plantColumns } from '@plant-store/schemas/plain';
import { describe, expect, it } from 'vitest';
import { plantDeletions, plants } from '../../src/tables/tables.ts';

const types = {
  int64: ['bigint'],
  number: ['smallint', 'integer', 'real', 'double precision'],
  text: ['text'],
  time: ['timestamp with time zone'],
};

describe.each(Object.entries({ plants, plantDeletions }))('the table %s', (_, table) => {
  it.each(Object.entries(plantColumns))(
    'contains the column of %s with the properties from `plantColumns`',
    (field, listed) => {
      // The cast is safe, because `field` is a key of `plantColumns`.
      const column = table[field as keyof typeof plantColumns];
      expect({ name: column.name, isOptional: !column.notNull }).toEqual({
        name: listed.name,
        isOptional: listed.isOptional,
      });
      expect(types[listed.kind]).toContain(column.getSQLType());
    },
  );
});
