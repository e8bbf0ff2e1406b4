import { describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { embedded } from '../fixtures/profiles.ts';

// The methods check their arguments before they use the database, so one kind of database is enough.
describe('a call from plain JavaScript', () => {
  const suite = openForSuite(embedded);

  it.each([
    ['get', ['1'], 'id must be an integer'],
    ['get', [], 'id is missing'],
    ['delete', [1.5], 'id must be an integer'],
    ['create', [{ id: '1', name: 'Hoya' }], 'id must be an integer'],
    ['createMany', ['Hoya'], 'plants'],
    ['list', [{ limit: '5' }], 'limit must be an integer from 1 to 1000'],
    ['list', [{ tags: 'Hoya' }], 'it has no parameter "tags"'],
    ['list', [null], 'it must be an object'],
    ['count', [{ tag: 5 }], 'tag must be a string'],
    ['changes', [{ after: 5 }], 'after must be a cursor'],
    ['get', [1n, { deadline: Number.NaN }], 'deadline must be a number'],
    ['create', [{ id: 1n, name: 'Hoya' }, { deadline: null }], 'deadline must be a number'],
  ])('of %s with invalid arguments is rejected (%#)', async (method, values, message) => {
    const call = async () => Object(suite.store)[method](...values);
    await expect(call()).rejects.toMatchObject({
      kind: 'invalidInput',
      message: expect.stringContaining(`invalid input: ${message}`),
    });
  });

  it('may omit the optional arguments, and may use numbers as ids', async () => {
    const store = Object(suite.store);
    await store.create({ id: 1, name: 'Hoya' });
    expect(await store.list()).toEqual(await store.list({}));
    expect(await store.get(1)).toMatchObject({ id: 1n, name: 'Hoya' });
    expect(await store.changes()).toMatchObject({ changes: [] });
    expect(await store.delete(1)).toBe(true);
  });
});
