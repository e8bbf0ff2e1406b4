import { PlantStoreError } from '@plant-store/core';
import { describe, expect, it } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { expectError } from '../fixtures/expect-error.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

const server = shareServer();

/** A server whose creates throw this error. */
const startFailingServer = (error: Error) =>
  startServerOn(server.store, {
    create: async () => {
      throw error;
    },
  });

describe.each(surfaces)('over $name', (surface) => {
  it.each([
    ['databaseUnavailable', 50300],
    ['overloaded', 50301],
  ] as const)(
    'responds with 503 and Retry-After to the error %s of the store',
    async (kind, code) => {
      const failing = await startFailingServer(new PlantStoreError(kind, 'not now'));
      const response = await surface.send(failing, plant);
      expectError(response, 503, code);
      expect(response.headers.get('retry-after')).toBe('1');
      await failing.stop();
    },
  );

  it('responds with 500 to a bug, and describes the bug only in the log', async () => {
    const failing = await startFailingServer(new TypeError('a bug'));
    expect(await surface.send(failing, plant)).toMatchObject({
      status: 500,
      body: { error: 50000, message: errorExamples.internal },
    });
    const [logged] = failing.log.map((line) => JSON.parse(line)).filter(({ err }) => err);
    expect(logged).toMatchObject({
      level: 50,
      reqId: expect.any(String),
      err: { type: 'TypeError', message: 'a bug', at: expect.stringMatching(/\.ts:\d+$/) },
    });
    await failing.stop();
  });
});
