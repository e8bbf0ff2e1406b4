import { describe, expect, it } from 'vitest';
import {
  emptyPageMap,
  endRow,
  learnEarlierPage,
  learnPage,
  pageAt,
  startOf,
} from '../../../src/plants/table/page-map.ts';

/** Returns a page of plants with consecutive ids. The last id is `next`, or 999 on the last page. */
function response(count: number, next: bigint | undefined) {
  const last = next ?? 999n;
  const plants = Array.from({ length: count }, (_, i) => ({ id: last - BigInt(count - 1 - i) }));
  return { plants, next };
}

/** A map with three known pages of 100 rows each. More pages follow. */
const three = [100n, 200n, 300n].reduce(
  (map, next, index) => learnPage(map, index, response(100, next)),
  emptyPageMap(undefined),
);

const rowsOf = ({ pages }: typeof three) => pages.map(({ firstRow }) => firstRow);

it('makes a map without rows, and learns the start of each next page', () => {
  const map = emptyPageMap(5n);
  expect([endRow(map), pageAt(map, 0), startOf(map, 0)]).toEqual([0, 0, 5n]);
  expect([endRow(three), startOf(three, 3)]).toEqual([300, 300n]);
  expect(rowsOf(three)).toEqual([0, 100, 200]);
});

it('adds no rows for a page without plants, and adds the rows of the next page', () => {
  let map = learnPage(emptyPageMap(undefined), 0, response(0, 100n));
  expect([endRow(map), pageAt(map, 0), startOf(map, 1)]).toEqual([0, 1, 100n]);
  map = learnPage(map, 1, response(5, 200n));
  map = learnPage(map, 2, response(0, 300n));
  map = learnPage(map, 3, response(2, undefined));
  expect(map.pages.map(({ firstRow }) => firstRow)).toEqual([0, 0, 5, 5]);
  expect([0, 4, 5, 6].map((row) => pageAt(map, row))).toEqual([1, 1, 3, 3]);
  expect(endRow(map)).toBe(7);
});

it('finds the page that contains a row', () => {
  const rows = [0, 99, 100, 299, 300, 900];
  expect(rows.map((row) => pageAt(three, row))).toEqual([0, 0, 1, 2, 3, 3]);
});

it('returns the same map when a response changes nothing', () => {
  expect(learnPage(three, 1, response(100, 200n))).toBe(three);
});

const complete = learnPage(three, 3, response(7, undefined));

it.each([
  ['knows all rows after the last page', complete, [0, 100, 200, 300], undefined],
  [
    'moves later pages up when plants of an earlier page are deleted',
    learnPage(three, 1, response(98, 200n)),
    [0, 100, 198],
    { after: 300n },
  ],
  [
    'keeps the start of the next page when a response also contains plants of the next page',
    learnPage(three, 1, response(100, 202n)),
    [0, 100, 198],
    { after: 300n },
  ],
  [
    'forgets the later pages when a new response for a page ends at a lower id',
    learnPage(three, 1, response(100, 199n)),
    [0, 100],
    { after: 199n },
  ],
  [
    'knows all rows when a response shows that an earlier page is now the last page',
    learnPage(three, 1, response(3, undefined)),
    [0, 100],
    undefined,
  ],
  [
    'no longer knows the end of the list when the last page becomes full',
    learnPage(complete, 3, response(100, 400n)),
    [0, 100, 200, 300],
    { after: 400n },
  ],
])('a map %s', (_case, map, rows, frontier) => {
  expect(rowsOf(map)).toEqual(rows);
  expect(map.frontier).toEqual(frontier);
});

it('ends after the rows of the last page', () => {
  expect(endRow(complete)).toBe(307);
});

describe('a map with an anchor', () => {
  /** Returns the plants 101 to 200, without the ids in `remove`, and with `add` more plants at the start. */
  const changed = (remove: bigint[], add: number) => {
    const { plants } = response(100, 200n);
    const added = Array.from({ length: add }, () => ({ id: 101n }));
    return { plants: [...added, ...plants.filter(({ id }) => !remove.includes(id))], next: 200n };
  };

  it.each([
    ['in the changed page', { row: 150, id: 151n }, [-2, 98, 200]],
    ['in a later page', { row: 250, id: 251n }, [-2, 98, 200]],
    ['in an earlier page', { row: 50, id: 51n }, [0, 100, 202]],
  ])('moves the rows before and after an anchor %s', (_case, anchor, rows) => {
    const map = learnPage(three, 1, changed([], 2), anchor);
    expect(rowsOf(map)).toEqual(rows);
    expect(learnPage(map, 1, changed([], 2), anchor)).toBe(map);
  });

  it.each([
    ['stays in its row when an earlier plant is added', [180n], 1, [-1, 99, 199]],
    ['gives its row to the next plant when the anchor is deleted', [151n, 110n], 0, [1, 101, 199]],
  ])('%s', (_case, remove, add, rows) => {
    expect(rowsOf(learnPage(three, 1, changed(remove, add), { row: 150, id: 151n }))).toEqual(rows);
  });
});

describe('a list that is opened in the middle', () => {
  const opened = learnPage(emptyPageMap(500n), 0, response(100, 600n));

  const map = learnEarlierPage(opened, { after: 400n, rowCount: 60 });

  it('gives negative row numbers to plants before the place at which the list was opened', () => {
    expect(rowsOf(map)).toEqual([-60, 0]);
    expect([pageAt(map, -60), pageAt(map, -1), pageAt(map, 0)]).toEqual([0, 0, 1]);
    expect(startOf(map, 0)).toBe(400n);
  });

  it('ends the earlier page where the first opened page begins', () => {
    // The response for the earlier page also contains 40 plants of the first opened page.
    expect(learnPage(map, 0, response(100, 540n))).toBe(map);
    expect(rowsOf(learnPage(map, 0, response(100, 541n)))).toEqual([-60, -1]);
  });
});
