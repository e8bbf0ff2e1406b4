import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { connect } from './openapi-fetch.ts';
import { expectRoundTrip } from './round-trip.ts';

it('a client of openapi-fetch keeps every id exact', async () => {
  const { env, stop } = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(stop);
  const client = connect(env.PLANT_STORE_URL, env.PLANT_STORE_TOKEN);
  await expectRoundTrip(client, 'openapi-fetch');
  // The server compresses a long list, so the response has no Content-Length.
  const ids = Array.from({ length: 100 }, (_, i) => 2n ** 60n + BigInt(i));
  await client.createMany(ids.map((id) => ({ id, name: 'Hoya carnosa', tag: 'long' })));
  const { plants } = await client.list({ tag: 'long', limit: 100 });
  expect(plants.map(({ id }) => id)).toEqual(ids);
});
