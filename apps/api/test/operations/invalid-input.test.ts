import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { type Input, type Procedure, request, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();

const valid = { id: 300n, name: 'x' };
const tooMany = Array.from({ length: 1_001 }, (_, id) => ({ id, name: 'x' }));

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

/** Invalid inputs, and a text that the error message contains, usually the name of the field. */
const inputs: [Procedure, Input, string][] = [
  ['createPlant', { id: '5', name: 'x' }, 'id must be an integer'],
  ['createPlant', { id: 1, name: 5, tag: null }, 'name must be a string; tag'],
  ['createPlants', { plants: [valid, { id: '302', name: 'x' }] }, 'plants[1].id'],
  ['createPlants', { plants: [valid, { id: 304n }] }, 'plants[1].name'],
  ['createPlants', { plants: [{ ...valid, tag: '\0' }] }, 'plants[0].tag'],
  ['createPlants', { plants: [valid, null] }, 'plants[1]'],
  ...[[], tooMany, undefined, 'plants'].map(
    (plants) => ['createPlants', { plants }, 'plants'] as [Procedure, Input, string],
  ),
  ...(['getPlant', 'deletePlant', 'replacePlant'] as const).flatMap((procedure) =>
    [2n ** 63n, -(2n ** 63n) - 1n, 1.5, true, 'five'].map(
      (id) => [procedure, { id, name: 'x' }, 'id must be'] as [Procedure, Input, string],
    ),
  ),
  ['replacePlant', { id: 1 }, 'name'],
  ['replacePlant', { id: 1, name: null }, 'name'],
  ['replacePlant', { id: 1, name: '\ud800' }, 'name'],
  ['replacePlant', { id: 1, name: 'x', tag: null }, 'tag'],
  ['replacePlant', { id: 1, name: 'x', ifMatch: '"1", '.repeat(201) }, 'ifMatch'],
  ['deletePlant', { id: 1, ifMatch: '"1", '.repeat(201) }, 'ifMatch'],
  ...[0, -1, 1001, 1.5, 2n ** 53n].map(
    (limit) => ['listPlants', { limit }, 'limit'] as [Procedure, Input, string],
  ),
  ...[2n ** 63n, '9223372036854775808', '007', '+5', '1e3', '', 'x', 1.5, true].map(
    (after) => ['listPlants', { after }, 'after'] as [Procedure, Input, string],
  ),
  ['listPlants', { tag: '\0' }, 'tag'],
  ['listPlants', { search: '' }, 'search'],
  ['listPlants', { search: 'x'.repeat(101) }, 'search'],
  ['listPlants', { Tag: 'seven' }, '"Tag"'],
  ['countPlants', { tag: '\0' }, 'tag'],
  ['countPlants', { limit: 5 }, '"limit"'],
  ['whoAmI', { size: 0 }, '"size"'],
  ['createAccessToken', {}, 'name'],
  ['createAccessToken', { name: 'a\nb' }, 'name'],
  ['createAccessToken', { name: 'a\u202eb' }, 'name'],
  ['createAccessToken', { name: 'x'.repeat(101) }, 'name'],
  ['createAccessToken', { name: 'x', scopes: [] }, 'scopes'],
  ['createAccessToken', { name: 'x', scopes: ['all'] }, 'scopes[0]'],
  ...['2020-01-01T00:00:00Z', '2100-02-30T00:00:00Z', '9999-12-31T23:59:59-01:00', 4e12].map(
    (expiresAt) =>
      ['createAccessToken', { name: 'x', expiresAt }, 'expiresAt'] as [Procedure, Input, string],
  ),
  ['revokeAccessToken', { id: '1' }, 'id'],
  ['listAccessTokens', { limit: 1001 }, 'limit'],
  ['listPlantChanges', { after: 'x' }, 'after'],
  ['listPlantChanges', { after: '' }, 'after'],
  ['listPlantChanges', { limit: 1001 }, 'limit'],
  ['listPlantChanges', { wait: -1 }, 'wait'],
  ['listPlantChanges', { wait: 21 }, 'wait'],
  ['listPlantChanges', { tag: 'y' }, '"tag"'],
  ['listPlantChanges', { only: 'created' }, '"only"'],
  ['createWebhook', {}, 'url'],
  ['createWebhook', { url: 'partner' }, 'url'],
  ['createWebhook', { url: 'ftp://partner.example/' }, 'must begin with https://'],
  ['createWebhook', { url: `https://1.1.1.1/${'x'.repeat(2_000)}` }, 'url'],
  ['createWebhook', { url: 'https://ann:secret@1.1.1.1/' }, 'url'],
  ['createWebhook', { url: 'https://10.0.0.1/' }, 'PLANT_STORE_WEBHOOK_ALLOW'],
  ['createWebhook', { url: 'http://1.1.1.1/' }, 'PLANT_STORE_WEBHOOK_ALLOW'],
  ['createWebhook', { url: 'https://1.1.1.1/', name: 'a\nb' }, 'name'],
  ['createWebhook', { url: 'https://1.1.1.1/', from: 'x' }, 'from'],
  ['listWebhooks', { limit: 0 }, 'limit'],
  ['listWebhooks', { state: 'paused' }, '"state"'],
  ['getWebhook', { name: 'x'.repeat(101) }, 'name'],
  ['updateWebhook', { name: 'x' }, 'paused'],
  ['updateWebhook', { name: 'x', paused: 'true' }, 'paused'],
  ['replayWebhook', { name: 'x' }, 'either after or since'],
  ['replayWebhook', { name: 'x', after: otherCursor, since: '2026-11-21T09:30:00Z' }, 'either'],
  ['replayWebhook', { name: 'x', since: 'yesterday' }, 'since'],
];

describe.each(surfaces)('over $name', ({ call }) => {
  it.each(inputs)('%s rejects an invalid input, and says what is wrong (%#)', async (...row) => {
    const [procedure, input, named] = row;
    const outcome = await call(server, procedure, input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(named);
  });

  it('createPlants creates no plant of an invalid input, and names only a few of many errors', async () => {
    expect(await call(server, 'getPlant', { id: valid.id })).toMatchObject({ error: 40401 });
    const plants = Array.from({ length: 1_000 }, () => ({ id: 1.5 }));
    const { message } = await call(server, 'createPlants', { plants });
    expect(message?.length).toBeLessThan(2_000);
  });
});

const ids = ['007', '+5', '1e3', '0x10', '%205', '5%20', '5.0', '-0', 'five', '٥', '"5"', 'null'];

it.each([
  ...[...ids, '9'.repeat(1000)].flatMap((id) => [
    ['GET', `/plants/${id}`, 'id'],
    ['DELETE', `/plants/${id}`, 'id'],
  ]),
  ['PUT', '/plants/007', 'id', '{"name":"x"}'],
  ['GET', '/plants/-5?id=-5', '"id"'],
  ['GET', '/plants/-5?x=1', '"x"'],
  ['GET', '/plants/-5?ifMatch=1', '"ifMatch"'],
  ['DELETE', '/plants/-5?ifMatch=1', '"ifMatch"'],
  ['PUT', '/plants/-5?ifMatch=1', '"ifMatch"', '{"name":"x"}'],
  ['PUT', '/plants/1?name=x', '"name"', '{"name":"x"}'],
  ['POST', '/plants?x=1&x=%ff', '"x"', '{"id":1,"name":"x"}'],
  ['GET', '/plants?tag=a&tag=b', 'tag'],
  ['GET', '/plants?limit=1&limit=2', 'limit'],
  ['GET', '/plants?x=1&x=2', 'x'],
  ['GET', '/plants?__proto__=1', '"__proto__"'],
  ['GET', '/plants?=', '""'],
  ['GET', '/plants?after=', 'after'],
  ['GET', '/plants?limit=1e2', 'limit'],
  ['GET', `/plants?limit=${'9'.repeat(400)}`, 'limit'],
] as [string, string, string, string?][])(
  '%s %s gets 40001, and the message names %s',
  async (method, path, named, body) => {
    const response = await request(server, method, path, body);
    const { error, message } = Object(await response.json());
    expect([response.status, error]).toEqual([400, 40001]);
    expect(message).toContain(named);
  },
);
