import type { NewPlant } from '@plant-store/schemas';
import { plantColumns } from '@plant-store/schemas/plain';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatNames } from '../src/rows/format-names.ts';
import { createPlantWriter } from '../src/writers/plant-writer.ts';
import { anyPlant } from './fixtures/any-plant.ts';
import { readRows } from './fixtures/read-rows.ts';

const anyPlants = fc.uniqueArray(anyPlant, { selector: ({ id }) => id, minLength: 1 });

const written = [...formatNames, 'spreadsheet'] as const;

it.each(written)(
  'reads the plants of a written %s file, in chunks of any size',
  async (written) => {
    const { header, row } = createPlantWriter(written);
    const format = written === 'spreadsheet' ? 'csv' : written;
    await fc.assert(
      fc.asyncProperty(anyPlants, fc.integer({ min: 1, max: 40 }), async (plants, chunkSize) => {
        const text = header + plants.map(row).join('');
        const { rows } = await readRows(text, format, { chunkSize });
        expect(rows.map((each) => 'plant' in each && withBigint(each.plant))).toEqual(plants);
      }),
    );
  },
);

it('writes a byte order mark for spreadsheet programs, and an apostrophe before ids and formulas', () => {
  const { header, row } = createPlantWriter('spreadsheet');
  const names = Object.values(plantColumns).map(({ name }) => name);
  expect(header).toBe(`\ufeff'${names.join()}\n`);
  const createdAt = new Date(0);
  const line = row({ id: 2n ** 63n - 1n, name: '=1+1', tag: "'grün", createdAt });
  expect(line).toMatch(/^'9223372036854775807,'=1\+1,''grün,/);
  expect(line).toMatch(/,1970-01-01T00:00:00.000Z\n$/);
});

it.each(formatNames)('reads the times in %s unless createdAt is "now"', async (format) => {
  const text = {
    ndjson:
      '{"id":1,"name":"a","created_at":"2026-11-01"}\n{"id":2,"name":"\\"","created_at":"x"}\n',
    csv: 'CreatedAt,id,name\n2026-11-01,1,a\nx,2,""""\n',
  }[format];
  const timesOf = async (createdAt: 'keep' | 'now') => {
    const { rows, warnings } = await readRows(text, format, { createdAt });
    expect(warnings).toEqual([]);
    return rows.map((row) => 'plant' in row && Object(row.plant).createdAt);
  };
  expect(await timesOf('keep')).toEqual(['2026-11-01', 'x']);
  expect(await timesOf('now')).toEqual([undefined, undefined]);
});

/** Converts the id of a plant to a bigint. The reader of NDJSON returns a small id as a number. */
function withBigint(plant: unknown): unknown {
  // The cast is safe, because the test itself has written this plant.
  const { id, ...rest } = plant as NewPlant;
  return { id: BigInt(id), ...rest };
}
