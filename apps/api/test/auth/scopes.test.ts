import { procedures } from '@plant-store/core/router';
import { type Scope, scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import {
  get,
  type Input,
  type Procedure,
  post,
  rest,
  surfaces,
  tokenWith,
} from '../fixtures/surfaces.ts';

const server = shareServer({ PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1' });
let count = 0;

async function newPlant() {
  const plant = { id: ++count, name: 'Hoya' };
  await rest.call(server, 'createPlant', plant);
  return plant;
}
async function newToken() {
  const { output } = await rest.call(server, 'createAccessToken', { name: 'x' });
  return { id: Object(output).id };
}
const webhook = () => ({ url: 'http://127.0.0.1:1/', name: `partner ${++count}` });
async function newWebhook() {
  const input = webhook();
  await rest.call(server, 'createWebhook', input);
  return { name: input.name };
}

/** The scope that each procedure needs, and a function that returns a valid input. */
const needs: [Procedure, Scope, () => Input | Promise<Input>][] = [
  ['createPlant', 'plants:create', () => ({ id: ++count, name: 'Hoya' })],
  ['createPlants', 'plants:create', () => ({ plants: [{ id: ++count, name: 'Hoya' }] })],
  ['getPlant', 'plants:read', async () => ({ id: (await newPlant()).id })],
  ['listPlants', 'plants:read', () => ({})],
  ['countPlants', 'plants:read', () => ({})],
  ['listPlantChanges', 'plants:read', () => ({})],
  ['replacePlant', 'plants:update', newPlant],
  ['deletePlant', 'plants:delete', async () => ({ id: (await newPlant()).id })],
  ['listAccessTokens', 'tokens:manage', () => ({})],
  ['createAccessToken', 'tokens:manage', () => ({ name: 'x', scopes: ['tokens:manage'] })],
  ['revokeAccessToken', 'tokens:manage', newToken],
  ['createWebhook', 'webhooks:manage', webhook],
  ['listWebhooks', 'webhooks:manage', () => ({})],
  ['getWebhook', 'webhooks:manage', newWebhook],
  ['updateWebhook', 'webhooks:manage', async () => ({ ...(await newWebhook()), paused: true })],
  ['deleteWebhook', 'webhooks:manage', newWebhook],
  ['rotateWebhookSecret', 'webhooks:manage', newWebhook],
  [
    ...(['replayWebhook', 'webhooks:manage'] as const),
    async () => ({ ...(await newWebhook()), since: '2026-11-21T09:30:00Z' }),
  ],
  ['testWebhook', 'webhooks:manage', newWebhook],
];

it('every procedure except whoAmI needs a scope', () => {
  const names = [...needs.map(([procedure]) => procedure), 'plantChanges', 'whoAmI'];
  expect(names.toSorted()).toEqual(Object.keys(procedures).toSorted());
});

describe.each(surfaces)('over $name', ({ call }) => {
  it.each(needs)('%s needs the scope %s, and no other', async (procedure, scope, input) => {
    const callWith = async (token: string) => call({ ...server, token }, procedure, await input());
    expect(await callWith(await tokenWith(server, [scope]))).not.toHaveProperty('error');
    const others = scopes.filter((each) => each !== scope);
    const rejected = await callWith(await tokenWith(server, others));
    expect(rejected).toMatchObject({ status: 403, error: 40300 });
    expect(rejected.message).toContain(scope);
    expect(rejected.headers.get('www-authenticate')).toBe(
      `Bearer realm="plant-store", error="insufficient_scope", scope="${scope}"`,
    );
    expect(await callWith('')).toMatchObject({ status: 401, error: 40100 });
    expect(await callWith('unknown')).toMatchObject({ status: 401, error: 40101 });
  });
});

it('responds with 40300 to a call without the scope, even when the input is invalid too', async () => {
  const token = await tokenWith(server, ['plants:create']);
  for (const path of ['/plants/x', '/trpc/getPlant?input={"json":{"id":"x"}}']) {
    expect((await get({ ...server, token }, path)).status).toBe(403);
  }
});

it('rejects each call of a batch over tRPC when the token lacks the scope of that call', async () => {
  const token = await tokenWith(server, ['plants:read']);
  const response = await post(
    { ...server, token },
    '/trpc/deletePlant,createPlant?batch=1',
    '{"0":{"json":{"id":1}},"1":{"json":{"id":2,"name":"x"}}}',
  );
  const rejected = { error: { json: { data: { error: 40300 } } } };
  expect(await response.json()).toMatchObject([rejected, rejected]);
});
