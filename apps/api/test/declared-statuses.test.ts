import { PlantStoreError } from '@plant-store/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentValidator } from './document-validator.ts';
import { sendRaw } from './raw-request.ts';
import { type RunningServer, startServer } from './running-server.ts';
import { post } from './surfaces.ts';

let server: RunningServer;
let document: Awaited<ReturnType<typeof documentValidator>>;

/** Ids for which the store fails, in ways that no database can be brought to here. */
const failures: Record<string, Error> = {
  '-1': new TypeError('a bug'),
  '-2': new PlantStoreError('databaseUnavailable', 'not now'),
};

beforeAll(async () => {
  server = await startServer('Postgres', {
    requestTimeout: 300,
    create: async ({ id, name }) => {
      if (failures[String(id)]) throw failures[String(id)];
      if (id === 2n) throw new PlantStoreError('idTaken', 'taken');
      return { name };
    },
  });
  document = await documentValidator(server.url);
});

afterAll(() => server.stop());

const raw = (text: string) => sendRaw(server.url, text);
const plant = (json: string, headers?: Record<string, string>) =>
  post(server, '/plants', json, headers);

const provoked: Record<number, () => Promise<{ status: number; headers: Headers; body: unknown }>> =
  {
    200: fetched(() => plant('{"id":1,"name":"x"}')),
    400: fetched(() => plant('{}')),
    401: fetched(() => plant('{}', { authorization: '' })),
    404: fetched(() => fetch(`${server.url}/nothing`)),
    405: fetched(() => fetch(`${server.url}/plants`)),
    408: () => raw('POST /plants HTTP/1.1\r\n'),
    409: fetched(() => plant('{"id":2,"name":"x"}')),
    413: fetched(() => plant(`"${'a'.repeat(2 ** 20)}"`)),
    415: fetched(() => plant('{}', { 'content-type': 'text/plain' })),
    417: () => raw('GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n'),
    429: async () => {
      const limited = await startServer('Postgres', { rateLimit: 1 });
      const send = fetched(() => post(limited, '/plants', '{}'));
      await send();
      const reply = await send();
      await limited.stop();
      return reply;
    },
    431: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
    500: fetched(() => plant('{"id":-1,"name":"x"}')),
    503: fetched(() => plant('{"id":-2,"name":"x"}')),
  };

function fetched(send: () => Promise<Response>) {
  return async () => {
    const reply = await send();
    return { status: reply.status, headers: reply.headers, body: await reply.text() };
  };
}

it('has a reply here for every status that the document declares', () => {
  expect(Object.keys(provoked).map(Number)).toEqual(document.statuses);
});

it.each(Object.entries(provoked))('sends %s as the document says', async (status, provoke) => {
  const reply = await provoke();
  expect(reply.status).toBe(Number(status));
  expect(document.problemsWith({ ...reply, body: JSON.parse(String(reply.body)) })).toEqual([]);
});
