import { expect, it } from 'vitest';
import { formatOf } from '../../src/rows/format-names.ts';

const advice = 'name its format';

it.each([
  ['ndjson', ['a.ndjson', 'a.JSONL', 'a.ndjson.gz', 'a.csv.ndjson.zst.rejects']],
  ['csv', ['a.csv', 'a.TSV', 'a.tab', '/tmp/a.gz.csv', 'a.csv.zstd', 'a.csv.GZ.rejects']],
])('recognizes %s by the extension of a file', (format, files) => {
  expect(new Set(files.map((file) => formatOf(file, advice)))).toEqual(new Set([format]));
});

it.each(['a', 'csv', '.csv', 'a.txt', 'a.gz', 'a.csv.gz.txt', '-.x', 'a.csvx', 'a.csv/b'])(
  'does not know the format of %s',
  (file) => {
    expect(() => formatOf(file, advice)).toThrow(`the format of ${file} is unknown: ${advice}`);
  },
);

it.each(['a.xlsx', 'a.XLS', 'a.ods'])(
  'says how to make a CSV file from the spreadsheet %s',
  (file) => {
    expect(() => formatOf(file, advice)).toThrow(`${file} is a spreadsheet: save it as CSV`);
  },
);
