import { expect, it } from 'vitest';
import { server, shareStore } from './fixtures/databases.ts';

const store = shareStore(server.provide);

const url = 'https://1.1.1.1';

it.each([
  ['get', ['1'], 'id must be an integer'],
  ['get', [], 'id is missing'],
  ['delete', ['1'], 'id must be an integer'],
  ['delete', [1.5], 'id must be an integer'],
  ['deleteMany', [1n], 'ids must be an array'],
  ['deleteMany', [['1']], 'ids[0] must be an integer'],
  ['load', ['Hoya'], 'plants must be an array'],
  ['create', [{ id: '1', name: 'Hoya' }], 'id must be an integer'],
  ['createMany', ['Hoya'], 'plants'],
  ['list', [{ limit: '5' }], 'limit must be an integer from 1 to 1000'],
  ['list', [{ tags: 'Hoya' }], 'it has no parameter "tags"'],
  ['list', [null], 'it must be an object'],
  ['count', ['Hoya'], 'it must be an object'],
  ['countUpTo', ['10'], 'limit must be an integer'],
  ['countUpTo', [10, { tag: 5 }], 'tag must be a string'],
  ['read', [{ after: 'a' }], 'after must be an integer'],
  ['export', [{ format: 'json' }], 'format must be csv or text'],
  [
    'export',
    [{ columns: ['id; select 1'] }],
    'columns[0] must be one of id, name, tag, created_at',
  ],
  ['export', [{ since: '2026-11-01' }], 'since must be a date'],
  ['export', [null], 'it must be an object'],
  ['forgetDeletions', [], 'days must be an integer'],
  ['forgetDeletions', [-1], 'days must'],
  ['changes', [{ after: 5 }], 'after must be a cursor'],
  ['follow', [{ tag: 5 }], 'tag must be a string'],
  ['webhooks.create', [url, { only: 'x' }], 'only '],
  ['webhooks.create', [url, { name: 5 }], 'name must have'],
  ['accessTokens.create', [5], 'name must be a string'],
  ['accessTokens.create', ['Hal', { scopes: [] }], 'scopes must have at least one'],
])('rejects a call of %s with the arguments %s', async (method, values, message) => {
  // Plain JavaScript can pass arguments of other types.
  const call = async () => {
    const [names, last = ''] = [method.split('.').slice(0, -1), method.split('.').at(-1)];
    return names.reduce((object, name) => object[name], Object(store))[last](...values);
  };
  await expect(call()).rejects.toMatchObject({
    kind: 'invalidInput',
    message: expect.stringContaining(`invalid input: ${message}`),
  });
});

it('accepts calls without the optional arguments', async () => {
  const plants = Object(store);
  await plants.create({ id: 1, name: 'Hoya' });
  expect(await plants.list()).toEqual(await plants.list({}));
  expect(await plants.get(1)).toMatchObject({ id: 1n, name: 'Hoya' });
  expect(await plants.changes()).toMatchObject({ changes: [] });
  expect(await plants.delete(1)).toBe(true);
});
