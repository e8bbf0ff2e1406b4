import { createDatabase, startAcknowledgedLoad } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { preparedDataDirectory, printedUrl, startProgram } from '../fixtures/program.ts';

const token = 'secret-of-the-tests';

it.each([
  ['Postgres', async () => ({ DATABASE_URL: await createDatabase(inject('postgresUrl')) })],
  ['the embedded database', async () => ({ PLANT_STORE_DATA_DIR: await preparedDataDirectory() })],
])('keeps every acknowledged plant on %s when it is killed', async (_name, makeDatabase) => {
  const env = { ...(await makeDatabase()), PLANT_STORE_TOKEN: token };
  const first = startProgram(env);
  const target = { url: await printedUrl(first), token };
  const load = startAcknowledgedLoad(target);
  onTestFinished(() => load.stop());
  await load.acknowledged(50);
  first.child.kill('SIGKILL');
  target.url = '';
  await first.ended();

  target.url = await printedUrl(startProgram(env));
  await load.acknowledged(10);
  await load.stop();
  for (const { id, ...plant } of load.seen.acknowledged) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${target.url}/plants/${id}`, { headers });
    expect(await response.json()).toMatchObject({ id, ...plant });
  }
});
