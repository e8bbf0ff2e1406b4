import { describe, expect, it } from 'vitest';
import { ListPlants, PlantIdInput } from '../src/index.ts';

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

describe('PlantIdInput', () => {
  it('accepts an int64', () => {
    expect(PlantIdInput.parse({ id: 5 })).toEqual({ id: 5n });
  });

  it.each([
    [{}, 'id: is missing: it must be an integer'],
    [{ id: 1, name: 'x' }, ': has no parameter "name"'],
    [{ id: ['5'] }, expect.stringContaining('id: must be an integer')],
    [undefined, ': must be an object'],
  ])('rejects %j', (input, message) => {
    expect(messages(PlantIdInput.safeParse(input))).toEqual([message]);
  });
});
