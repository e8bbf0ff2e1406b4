import { expect, it } from 'vitest';
import { toRowByHeader } from '../../src/csv/to-row.ts';

const headerOf = (text: string, delimiter = ',') => {
  const names = text.split(delimiter);
  return { text, delimiter, names, columns: names, isForSpreadsheet: false };
};

it.each([
  ['id,name,tag', '5,Hoya,water', { id: 5, name: 'Hoya', tag: 'water' }],
  ['id,name,tag', '5,Hoya,\r', { id: 5, name: 'Hoya' }],
  ['tag,note,name,id', ',x,,9007199254740993', { id: 9007199254740993n }],
  ['created_at,id', '2026-11-01,5', { id: 5, createdAt: '2026-11-01' }],
  ['id', '5', { id: 5 }],
])('converts a line without quotes to a row (%s: %j)', (header, text, plant) => {
  const { toPlainRow } = toRowByHeader(headerOf(header), {});
  expect(toPlainRow(7, text)).toEqual({ line: 7, plant });
});

it.each(['', '5', '5,Hoya', '5,Hoya,water,', ',Hoya,water', 'x,Hoya,water'])(
  'does not convert %j, which is incomplete or has no valid id',
  (text) => {
    expect(toRowByHeader(headerOf('id,name,tag'), {}).toPlainRow(7, text)).toBeUndefined();
  },
);

it('ignores the times in a file when createdAt is "now"', () => {
  const header = headerOf('created_at;name;id', ';');
  const { toRow, toPlainRow } = toRowByHeader(header, { createdAt: 'now' });
  const row = { line: 7, plant: { id: 5, name: 'Hoya' } };
  expect(toPlainRow(7, 'yesterday;Hoya;5')).toEqual(row);
  expect(toRow(7, ['yesterday', 'Hoya', '5'])).toEqual(row);
});
