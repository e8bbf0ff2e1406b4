import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { buildServer } from '../../src/server.ts';

let store: PlantStore;

beforeAll(async () => {
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
});

afterAll(() => store.close());

/** Whom the log names, and what is answered, when requests come through 127.0.0.1 for these clients. */
async function send(path: string, trustProxy: string[], clients: string[]) {
  const log: string[] = [];
  const logStream = { write: (line: string) => log.push(line) };
  const server = await buildServer({ store, trustProxy, authFailureLimit: 1, logStream });
  const statuses: number[] = [];
  for (const client of clients) {
    const headers = { 'x-forwarded-for': client };
    statuses.push((await server.inject({ method: 'POST', url: path, headers })).statusCode);
  }
  await server.close();
  return { statuses, ips: log.map((line) => JSON.parse(line).ip).filter(Boolean) };
}

const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3, 192.0.2.1'];

it.each(['/plants', '/trpc/createPlant'])(
  'limits the client that a trusted proxy names, and believes nobody else, at %s',
  async (path) => {
    expect(await send(path, ['10.0.0.0/8', '127.0.0.1'], clients)).toEqual({
      statuses: [401, 429, 401, 429],
      ips: ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1'],
    });
    for (const trusted of [['10.0.0.0/8'], []]) {
      expect(await send(path, trusted, clients)).toEqual({
        statuses: [401, 429, 429, 429],
        ips: Array(4).fill('127.0.0.1'),
      });
    }
  },
);

it.each(['10.0.0.1', '10.0.0.0/8, 127.0.0.1', '::1,2001:db8::/32'])('trusts %j', (value) => {
  const { PLANT_STORE_TRUST_PROXY: trusted } = readEnv({ PLANT_STORE_TRUST_PROXY: value });
  expect(trusted).toEqual(value.split(',').map((each) => each.trim()));
});

it.each(['true', '1', '10.0.0.0/33', 'proxy.example.com', '10.0.0.1,'])(
  'does not trust %j, which is no address',
  (value) => {
    expect(() => readEnv({ PLANT_STORE_TRUST_PROXY: value })).toThrow(
      `PLANT_STORE_TRUST_PROXY is ${JSON.stringify(value)}: set addresses or subnets of proxies`,
    );
  },
);
