import { expect, it } from 'vitest';
import { CsvParser, unclosedQuote } from '../../src/csv/parser.ts';

const parser = () => new CsvParser(',', '\n');

/** A text with almost a quarter of the size limit of a quoted field. */
const quarter = 'x'.repeat(16 * 1024 * 1024 - 100);

it('reads a quoted field of almost 64 MiB, and rejects a longer field', () => {
  const csv = parser();
  for (const line of [`"${quarter}`, quarter, quarter]) expect(csv.add(line)).toBeUndefined();
  expect(csv.add(`${quarter}"`)?.[0]).toHaveLength(4 * quarter.length + 3);

  for (const line of [`"${quarter}`, quarter, quarter, quarter]) csv.add(line);
  expect(() => csv.add(quarter)).toThrow(unclosedQuote);
});

it('limits the size of each quoted field of a record separately', () => {
  const csv = parser();
  for (const start of ['"', 'b","', 'c","']) {
    csv.add(`${start}${quarter}`);
    csv.add(quarter);
  }
  expect(csv.add('d"')).toHaveLength(3);
});

it('does not count a rejected field towards the size of the next field', () => {
  const csv = parser();
  for (const line of [`"${quarter}`, quarter, quarter, quarter]) csv.add(line);
  expect(() => csv.add(quarter)).toThrow(unclosedQuote);
  expect(csv.add(`"${quarter}`)).toBeUndefined();
  expect(csv.isInRecord).toBe(true);
});

it('reads a closing quote and a doubled quote at the start of a line', () => {
  const csv = parser();
  expect(csv.add('1,"a')).toBeUndefined();
  expect(csv.add('",x')).toEqual(['1', 'a\n', 'x']);
  expect(csv.add('"a')).toBeUndefined();
  expect(csv.add('""b"')).toEqual(['a\n"b']);
});
