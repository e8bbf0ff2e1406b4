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

it('makes a new map without rows', () => {
  const map = emptyPageMap(5n);
  expect(endRow(map)).toBe(0);
  expect(pageAt(map, 0)).toBe(0);
  expect(startOf(map, 0)).toBe(5n);
});

it('learns the start of the next page', () => {
  expect(endRow(three)).toBe(300);
  expect(three.pages.map(({ firstRow }) => firstRow)).toEqual([0, 100, 200]);
  expect(startOf(three, 3)).toBe(300n);
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

it('knows all rows after the response for the last page', () => {
  const map = learnPage(three, 3, response(7, undefined));
  expect(map.frontier).toBeUndefined();
  expect(endRow(map)).toBe(307);
});

it.each([
  [0, 0],
  [99, 0],
  [100, 1],
  [299, 2],
  [300, 3],
  [900, 3],
])('finds the page that contains row %i', (row, index) => {
  expect(pageAt(three, row)).toBe(index);
});

it('returns the same map when a response changes nothing', () => {
  expect(learnPage(three, 1, response(100, 200n))).toBe(three);
});

describe('a map after plants were created or deleted', () => {
  it('moves the rows of later pages up when plants of an earlier page are deleted', () => {
    const map = learnPage(three, 1, response(98, 200n));
    expect(map.pages.map(({ firstRow }) => firstRow)).toEqual([0, 100, 198]);
    expect(startOf(map, 3)).toBe(300n);
  });

  it('keeps the start of the next page when a response also contains plants of the next page', () => {
    const map = learnPage(three, 1, response(100, 202n));
    expect(map.pages.map(({ firstRow }) => firstRow)).toEqual([0, 100, 198]);
  });

  it('forgets the later pages when a new response for a page ends at a lower id', () => {
    const map = learnPage(three, 1, response(100, 199n));
    expect(map.pages).toHaveLength(2);
    expect(startOf(map, 2)).toBe(199n);
  });

  it('knows all rows when a response shows that an earlier page is now the last page', () => {
    const map = learnPage(three, 1, response(3, undefined));
    expect(map.pages).toHaveLength(2);
    expect(map.frontier).toBeUndefined();
  });

  it('no longer knows the end of the list when the last page becomes full', () => {
    const complete = learnPage(three, 3, response(7, undefined));
    const map = learnPage(complete, 3, response(100, 400n));
    expect(startOf(map, 4)).toBe(400n);
  });
});

describe('a map with an anchor', () => {
  /** Returns the plants 101 to 200, without the ids in `remove`, and with `add` more plants at the start. */
  const changed = (remove: bigint[], add: number) => {
    const { plants } = response(100, 200n);
    const added = Array.from({ length: add }, () => ({ id: 101n }));
    return { plants: [...added, ...plants.filter(({ id }) => !remove.includes(id))], next: 200n };
  };
  const rowsOf = ({ pages }: typeof three) => pages.map(({ firstRow }) => firstRow);

  it.each([
    ['in the changed page', { row: 150, id: 151n }, [-2, 98, 200]],
    ['in a later page', { row: 250, id: 251n }, [-2, 98, 200]],
    ['in an earlier page', { row: 50, id: 51n }, [0, 100, 202]],
  ])('moves the rows before and after an anchor %s', (_case, anchor, rows) => {
    const map = learnPage(three, 1, changed([], 2), anchor);
    expect(rowsOf(map)).toEqual(rows);
    expect(learnPage(map, 1, changed([], 2), anchor)).toBe(map);
  });

  it('keeps the row number of the anchor when an earlier plant is added and a later plant is deleted', () => {
    const map = learnPage(three, 1, changed([180n], 1), { row: 150, id: 151n });
    expect(rowsOf(map)).toEqual([-1, 99, 199]);
  });

  it('moves the next plant to the row number of the anchor when the anchor is deleted', () => {
    const map = learnPage(three, 1, changed([151n, 110n], 0), { row: 150, id: 151n });
    expect(rowsOf(map)).toEqual([1, 101, 199]);
  });
});

describe('a list that is opened in the middle', () => {
  const opened = learnPage(emptyPageMap(500n), 0, response(100, 600n));

  it('gives negative row numbers to plants before the place at which the list was opened', () => {
    const map = learnEarlierPage(opened, { after: 400n, rowCount: 60 });
    expect(map.pages.map(({ firstRow }) => firstRow)).toEqual([-60, 0]);
    expect([pageAt(map, -60), pageAt(map, -1), pageAt(map, 0)]).toEqual([0, 0, 1]);
    expect(startOf(map, 0)).toBe(400n);
  });

  it('ends the earlier page where the first opened page begins', () => {
    const map = learnEarlierPage(opened, { after: 400n, rowCount: 60 });
    // The response for the earlier page also contains 40 plants of the first opened page.
    expect(learnPage(map, 0, response(100, 540n))).toBe(map);
    const changed = learnPage(map, 0, response(100, 541n));
    expect(changed.pages.map(({ firstRow }) => firstRow)).toEqual([-60, -1]);
  });
});
