import { describe, expect, it } from 'vitest';
import { int64Range } from '../src/ids/int64-range.ts';
import {
  CountPlants,
  ListPlants,
  PlantCount,
  PlantIdInput,
  PlantPage,
  StoredPlant,
} from '../src/stored-plant.ts';

const messages = (result: { error?: { issues: { path: PropertyKey[]; message: string }[] } }) =>
  result.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('ListPlants', () => {
  it.each([undefined, {}])('has the limit 100 when the input is %j', (input) => {
    expect(ListPlants.parse(input)).toEqual({ limit: 100 });
  });

  it.each([1, 1000])('accepts the limit %s', (limit) => {
    const input = { tag: '', after: -5, limit };
    expect(ListPlants.parse(input)).toEqual({ tag: '', after: -5n, limit });
  });

  it.each([0, 1001, -1, 1.5, '5', null])('rejects the limit %j', (limit) => {
    expect(messages(ListPlants.safeParse({ limit }))).toContain(
      'limit: must be an integer from 1 to 1000',
    );
  });

  it.each([
    [{ tag: '\0', after: 0.5 }, ['tag: must not contain', 'after: must be an integer from']],
    [{ Tag: 'x', 'a"': 1 }, [': has no parameter "Tag", "a\\""']],
    [null, [': must be an object']],
    ['tag', [': must be an object']],
  ])('rejects %j', (input, expected) => {
    expect(messages(ListPlants.safeParse(input))).toEqual(
      expected.map((message) => expect.stringContaining(message)),
    );
  });
});

describe('CountPlants', () => {
  it.each([undefined, {}])('selects all plants when the input is %j', (input) => {
    expect(CountPlants.parse(input)).toEqual({});
  });

  it.each([
    [{ limit: 1 }, ': has no parameter "limit"'],
    ['tag', ': must be an object'],
  ])('rejects %j', (input, message) => {
    expect(messages(CountPlants.safeParse(input))).toEqual([message]);
  });
});

describe('PlantCount', () => {
  it.each([0, 1_000_000])('accepts the count %s', (count) => {
    expect(PlantCount.parse({ count, isExact: true })).toEqual({ count, isExact: true });
  });

  it.each([-1, 1_000_001, 0.5])('rejects the count %s', (count) => {
    expect(PlantCount.safeParse({ count, isExact: true }).success).toBe(false);
  });
});

describe('PlantIdInput', () => {
  it('accepts an int64', () => {
    expect(PlantIdInput.parse({ id: 5 })).toEqual({ id: 5n });
  });

  it.each([
    [{}, 'id: is missing: it must be an integer'],
    [{ id: 1, name: 'x' }, ': has no parameter "name"'],
    [{ id: ['5'] }, `id: must be an integer ${int64Range}`],
    [undefined, ': must be an object'],
  ])('rejects %j', (input, message) => {
    expect(messages(PlantIdInput.safeParse(input))).toEqual([message]);
  });
});

describe('PlantPage', () => {
  const plant = { id: 1n, name: 'Hoya', createdAt: new Date(0) };

  it('contains plants, and the id after which the next page begins', () => {
    expect(StoredPlant.parse({ ...plant, tag: '' })).toEqual({ ...plant, tag: '' });
    expect(PlantPage.parse({ plants: [plant] })).toEqual({ plants: [plant] });
    expect(PlantPage.parse({ plants: [], next: 1n })).toEqual({ plants: [], next: 1n });
  });

  it.each([
    { ...plant, id: 1 },
    { ...plant, createdAt: '2026-11-21' },
    { id: 1n, name: 'x' },
  ])('rejects the plant %o', (invalid) => {
    expect(PlantPage.safeParse({ plants: [invalid] }).success).toBe(false);
  });
});
