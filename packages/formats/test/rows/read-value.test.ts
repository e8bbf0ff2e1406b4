import { expect, it } from 'vitest';
import { readValue } from '../../src/rows/read-value.ts';
import { showValue } from '../../src/rows/show-value.ts';
import { readRows } from '../fixtures/read-rows.ts';

it.each([
  ['007', 'must be a whole number'],
  ['0x10', 'must be a whole number'],
  ['""', 'must be a whole number'],
  ['x1234567890123456', 'must be a whole number'],
  ['1234567890123456x', 'must be a whole number'],
  ['-9223372036854775809', 'must be from -9223372036854775808 to 9223372036854775807'],
  ['9223372036854775808', 'must be from -9223372036854775808 to 9223372036854775807'],
])('explains why the id %s of a CSV record is invalid', async (id, error) => {
  const { rows } = await readRows(`id,name\n${id},Hoya\n-5,Hoya\n`, 'csv');
  expect(rows).toEqual([
    { line: 2, error: `invalid input: id ${id.startsWith('"') ? id : `"${id}"`} ${error}` },
    { line: 3, plant: { id: -5n, name: 'Hoya' } },
  ]);
});

it.each([0n, -(2n ** 63n), 2n ** 63n - 1n])('reads the id %d', (id) => {
  expect(readValue('int64', String(id))).toBe(id);
});

it.each([
  ['007', '"007"'],
  [5n, '5'],
  [undefined, 'undefined'],
  ['x'.repeat(39), `"${'x'.repeat(39)}…`],
  ['\ufeff1\u202f000 000', '"\\u{feff}1\\u{202f}000 000"'],
])('shows the invalid value %s', (value, shown) => {
  expect(showValue(value)).toBe(shown);
});

it.each(['1,23457E+15', '1.2E+18', '-1,5e15'])(
  'says that a spreadsheet program has rounded the id %s',
  async (id) => {
    const { rows } = await readRows(`id;name\n${id};Hoya\n`, 'csv');
    expect(rows).toEqual([
      { line: 2, error: expect.stringContaining('a spreadsheet program has rounded it') },
    ]);
  },
);
