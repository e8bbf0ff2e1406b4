import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from './fixtures/run.ts';
import { token, useStore } from './fixtures/store.ts';

const store = useStore();

test('the default token is the token in the data directory of the embedded store', async () => {
  const data = join(store.directory, 'beside');
  await mkdir(data);
  await writeFile(join(data, 'token'), `${token}\n`);
  const env = { PLANT_STORE_URL: store.url, PLANT_STORE_DATA_DIR: data };
  expect(await run(['count'], { env })).toMatchObject({ code: 0, stdout: '0\n' });
});

test('the error for a data directory without a token names the missing file', async () => {
  const data = join(store.directory, 'missing');
  const { code, stderr } = await run(['count'], { env: { PLANT_STORE_DATA_DIR: data } });
  expect(code).toBe(2);
  expect(stderr).toContain(`there is no access token at ${join(data, 'token')}`);
});

test('the token of the embedded store never goes to another machine', async () => {
  const data = join(store.directory, 'beside');
  const env = { PLANT_STORE_URL: 'http://plants.invalid', PLANT_STORE_DATA_DIR: data };
  expect(await run(['count'], { env })).toMatchObject({
    code: 2,
    stderr: 'plant-store: set PLANT_STORE_TOKEN to an access token of the store\n',
  });
});

test.each(['plants.example.com', 'ftp://127.0.0.1', 'http://user:hidden@127.0.0.1'])(
  'PLANT_STORE_URL cannot be %s, and the error does not show a password',
  async (url) => {
    const { code, stderr } = await run(['count'], { env: { PLANT_STORE_URL: url } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^plant-store: PLANT_STORE_URL is not valid: set the address/);
    expect(stderr).not.toContain('hidden');
  },
);

test('a command with a wrong token reports the error of the store', async () => {
  const env = { ...store.env, PLANT_STORE_TOKEN: 'wrong-token-of-a-test' };
  const { code, stderr } = await run(['count', '--json'], { env });
  expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 1, error: 40101 });
});

test('PLANT_STORE_URL can have a path prefix, at which a proxy serves the store', async () => {
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url?.replace('/garden/', '/') ?? '';
    if (path === incoming.url) outgoing.destroy();
    const { method, headers } = incoming;
    const forwarded = request(store.url + path, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo; // The cast is safe, because the proxy has a port.
  const env = { ...store.env, PLANT_STORE_URL: `http://127.0.0.1:${port}/garden/` };
  const imported = await run(['import', '-'], { env, input: '{"id":1,"name":"Hoya"}\n' });
  expect(imported).toMatchObject({ code: 0, stdout: '1 lines, 1 created\n' });
  expect(await run(['export'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\{"id":1,"name":"Hoya"/),
  });
});
