import { procedures } from '@plant-store/core/router';
import { type Scope, scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { type Procedure, post, surfaces, tokenWith } from '../fixtures/surfaces.ts';

const server = shareServer();

/** The procedures that need each scope. `feed.test.ts` tests the scope of plantChanges. */
const proceduresOf: Record<Scope, Procedure[]> = {
  'plants:create': ['createPlant', 'createPlants'],
  'plants:read': ['getPlant', 'listPlants', 'countPlants', 'listPlantChanges'],
  'plants:update': ['replacePlant'],
  'plants:delete': ['deletePlant'],
  'tokens:manage': ['listAccessTokens', 'createAccessToken', 'revokeAccessToken'],
  'webhooks:manage': [
    ...(['createWebhook', 'listWebhooks', 'getWebhook', 'updateWebhook'] as const),
    ...(['deleteWebhook', 'rotateWebhookSecret', 'replayWebhook', 'testWebhook'] as const),
  ],
};

it('each procedure except whoAmI has a test of its scope', () => {
  const names = [...Object.values(proceduresOf).flat(), 'plantChanges', 'whoAmI'];
  expect(names.toSorted()).toEqual(Object.keys(procedures).toSorted());
});

describe.each(surfaces)('over $name', ({ call }) => {
  const needs = scopes.flatMap((scope) =>
    proceduresOf[scope].map((each) => [each, scope] as const),
  );

  it.each(needs)('%s needs the scope %s and no other scope', async (procedure, scope) => {
    // The server checks the scope before the input, so even an invalid input shows a missing scope.
    const callWith = (token: string) => call({ ...server, token }, procedure, {});
    const allowed = await callWith(await tokenWith(server, [scope]));
    expect([undefined, 40001, 40403]).toContain(allowed.error);
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

it('a batch over tRPC rejects each call whose scope the token lacks', async () => {
  const token = await tokenWith(server, ['plants:read']);
  const response = await post(
    { ...server, token },
    '/trpc/deletePlant,createPlant?batch=1',
    '{"0":{"json":{"id":1}},"1":{"json":{"id":2,"name":"x"}}}',
  );
  const rejected = { error: { json: { data: { error: 40300 } } } };
  expect(await response.json()).toMatchObject([rejected, rejected]);
});
