import { plantColumns } from '@plant-store/schemas/plain';
import { describe, expect, it } from 'vitest';
import { createNdjsonConverter } from '../src/files/copied-ndjson.ts';
import { formatNames } from '../src/rows/format-names.ts';
import { createPlantWriter } from '../src/writers/plant-writer.ts';
import { readRows } from './fixtures/read-rows.ts';

/** Some columns of the store, and a new column. */
const { id, name, tag, createdAt } = plantColumns;
const columns = {
  id,
  name,
  tag,
  price: { name: 'price', kind: 'number', isOptional: true },
  createdAt,
} as const;

const plants = [
  {
    id: 2n ** 60n + 1n,
    name: 'Hoya',
    tag: 'wax',
    price: 12.5,
    createdAt: '2026-11-01T09:30:00.000Z',
  },
  {
    id: 2n ** 60n + 2n,
    name: 'with "quotes"',
    tag: undefined,
    price: -0.001,
    createdAt: undefined,
  },
  { id: 2n ** 60n + 3n, name: 'x', tag: 'y', price: 1.5e-7, createdAt: undefined },
  { id: 2n ** 60n + 4n, name: 'Ficus', tag: '', price: undefined, createdAt: undefined },
];

describe.each(formatNames)('a new column of numbers in %s', (format) => {
  it('writes and reads a new column', async () => {
    const { header, row } = createPlantWriter(format, columns);
    const written = plants.map((plant) =>
      row({ ...plant, createdAt: plant.createdAt && new Date(plant.createdAt) }),
    );
    const { rows, warnings } = await readRows(header + written.join(''), format, { columns });
    const read = rows.map((each) => {
      // A plant from NDJSON also has the property `created_at` of the file.
      const { created_at: _, ...plant } = 'plant' in each ? Object(each.plant) : {};
      return plant;
    });
    expect(read).toEqual(plants);
    expect(warnings).toEqual([]);
  });
});

it('writes a number without quotes', () => {
  const { row } = createPlantWriter('ndjson', columns);
  expect(row({ id: 1n, name: 'Hoya', price: 12.5, createdAt: new Date(0) })).toBe(
    '{"id":1,"name":"Hoya","price":12.5,"created_at":"1970-01-01T00:00:00.000Z"}\n',
  );
  const convert = createNdjsonConverter(['id', 'price', 'name', 'created_at'], columns);
  const rows = '1\t12.5\ta\\tb\t2026-11-01 09:30:00.5+00\n2\t\\N\tc\tinfinity\n';
  expect(new TextDecoder().decode(convert(new TextEncoder().encode(rows)))).toBe(
    '{"id":1,"price":12.5,"name":"a\\tb","created_at":"2026-11-01T09:30:00.5Z"}\n' +
      '{"id":2,"name":"c","created_at":"infinity"}\n',
  );
});

it.each(['much', '1,5', '0x10', '1e999', '', ' 1', '01'])(
  'rejects a CSV row whose number is %j',
  async (price) => {
    const text = `id,name,price\n1,Hoya,"${price}"\n2,Ficus,3\n`;
    expect((await readRows(text, 'csv', { columns })).rows).toEqual([
      {
        line: 2,
        error: `invalid input: price "${price}" must be a number, such as 12.5`,
      },
      { line: 3, plant: { id: 2n, name: 'Ficus', price: 3 } },
    ]);
  },
);

it('lets the store reject an NDJSON value that is not a number', async () => {
  const text = '{"id":1,"name":"Hoya","price":"much"}\n{"id":2,"name":"x","price":1e400}\n';
  expect((await readRows(text, 'ndjson', { columns })).rows).toMatchObject([
    { plant: { price: 'much' } },
    { plant: { price: Number.POSITIVE_INFINITY } },
  ]);
});

it('names a new column in messages', async () => {
  const message = 'the CSV header must have the columns id and name (tag and price are optional)';
  await expect(readRows('name,price\n', 'csv', { columns })).rejects.toThrow(message);
  const empty = 'a CSV file starts with the line id,name,tag,price';
  await expect(readRows('', 'csv', { columns })).rejects.toThrow(empty);
});

it('requires a new column that is not optional', async () => {
  const required = { ...columns, price: { ...columns.price, isOptional: false } };
  const read = readRows('id,name\n1,x\n', 'csv', { columns: required });
  await expect(read).rejects.toThrow('must have the columns id, name, and price (tag is optional)');
});
