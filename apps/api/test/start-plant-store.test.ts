import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { type StartOptions, startPlantStore } from '../src/index.ts';
import { preparedDataDirectory } from './fixtures/program.ts';
import { post } from './fixtures/surfaces.ts';

async function start(options: StartOptions) {
  const store = await startPlantStore(options);
  onTestFinished(store.close);
  return store;
}

const plant = '{"id":1,"name":"Monstera"}';

it('starts several stores in one process, each on its own database and port', async () => {
  const onPostgres = { databaseUrl: await createDatabase(inject('postgresUrl')) };
  for (const where of [onPostgres, { dataDirectory: await preparedDataDirectory() }]) {
    expect((await post(await start(where), '/plants', plant)).status).toBe(200);
  }
});

it('accepts the settings of the server, and ignores the environment', async () => {
  process.env['PLANT_STORE_TOKEN'] = 'token-of-the-environment';
  onTestFinished(() => void delete process.env['PLANT_STORE_TOKEN']);
  const token = 'secret-of-the-tests';
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await start({ databaseUrl, settings: { PLANT_STORE_TOKEN: token } });
  expect(store.token).toBe(token);
  const { url } = store;
  expect((await post({ url, token: 'token-of-the-environment' }, '/plants', plant)).status).toBe(
    401,
  );
});

it('rejects invalid options, and closes the database when the port is in use', async () => {
  await expect(startPlantStore({})).rejects.toThrow('either a dataDirectory or a databaseUrl');
  const dataDirectory = await preparedDataDirectory();
  await expect(startPlantStore({ dataDirectory, settings: { PORT: 'x' } })).rejects.toThrow(
    'PORT is "x": set a port',
  );
  const other = await start({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  const settings = { PORT: new URL(other.url).port };
  await expect(startPlantStore({ dataDirectory, settings })).rejects.toThrow(
    /^cannot listen \(.*EADDRINUSE.*\): set HOST and PORT to/,
  );
  await start({ dataDirectory });
});
