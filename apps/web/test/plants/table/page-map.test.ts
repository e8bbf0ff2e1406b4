import { describe, expect, it } from 'vitest';
import {
  emptyPageMap,
  knownRows,
  learnPage,
  pageAt,
  startOf,
} from '../../../src/plants/table/page-map.ts';

/** Three pages of 100 rows each, and more behind them. */
const three = [100n, 200n, 300n].reduce(
  (map, next, index) => learnPage(map, index, { rowCount: 100, next }),
  emptyPageMap(undefined),
);

it('starts without a known row', () => {
  const map = emptyPageMap(5n);
  expect(knownRows(map)).toBe(0);
  expect(pageAt(map, 0)).toBe(0);
  expect(startOf(map, 0)).toBe(5n);
});

it('learns where the next page starts', () => {
  expect(knownRows(three)).toBe(300);
  expect(three.pages.map(({ firstRow }) => firstRow)).toEqual([0, 100, 200]);
  expect(startOf(three, 3)).toBe(300n);
});

it('is complete when a page has no next', () => {
  const map = learnPage(three, 3, { rowCount: 7, next: undefined });
  expect(map.frontier).toBeUndefined();
  expect(knownRows(map)).toBe(307);
});

it.each([
  [0, 0],
  [99, 0],
  [100, 1],
  [299, 2],
  [300, 3],
  [900, 3],
])('finds the page of row %i', (row, index) => {
  expect(pageAt(three, row)).toBe(index);
});

it('stays the same object when a page says what is known', () => {
  expect(learnPage(three, 1, { rowCount: 100, next: 200n })).toBe(three);
});

describe('when plants come and go', () => {
  it('moves the rows behind a page that has fewer rows now', () => {
    const map = learnPage(three, 1, { rowCount: 98, next: 200n });
    expect(map.pages.map(({ firstRow }) => firstRow)).toEqual([0, 100, 198]);
    expect(startOf(map, 3)).toBe(300n);
  });

  it('forgets the pages behind a page that ends elsewhere now', () => {
    const map = learnPage(three, 1, { rowCount: 100, next: 199n });
    expect(map.pages).toHaveLength(2);
    expect(startOf(map, 2)).toBe(199n);
  });

  it('is complete when a page in the middle became the last', () => {
    const map = learnPage(three, 1, { rowCount: 3, next: undefined });
    expect(map.pages).toHaveLength(2);
    expect(map.frontier).toBeUndefined();
  });

  it('is no longer complete when the last page became full', () => {
    const complete = learnPage(three, 3, { rowCount: 7, next: undefined });
    const map = learnPage(complete, 3, { rowCount: 100, next: 400n });
    expect(startOf(map, 4)).toBe(400n);
  });
});
