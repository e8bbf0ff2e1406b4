import { startPostgres } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { startForTest } from '../fixtures/server.ts';
import { get, post } from '../fixtures/surfaces.ts';

it('a server on a read replica serves reads, and has no feed', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  onTestFinished(primary.stop);
  const writer = await startForTest({}, { databaseUrl: primary.url });
  await post(writer, '/plants', '{"id":1,"name":"Monstera deliciosa"}');
  const standby = await primary.startStandby();
  onTestFinished(standby.stop);
  const reader = await serve({ DATABASE_URL: standby.url });

  expect((await fetch(`${reader.url}/readyz`)).status).toBe(200);
  await vi.waitFor(async () => expect((await get(reader, '/plants/1')).status).toBe(200));
  expect(await (await get(reader, '/plants/count')).json()).toMatchObject({ count: 1 });
  const errorOf = async (response: Response) => Object(await response.json()).error;
  expect(await errorOf(await get(reader, '/plants/changes'))).toBe(50100);
  expect(await errorOf(await post(reader, '/plants', '{"id":2,"name":"x"}'))).toBe(50300);
  expect((await get(reader, '/plants/1')).status).toBe(200);
  // The log has no complaint about the feed.
  expect(reader.log().filter(({ msg }) => String(msg).includes('feed'))).toEqual([]);
});
