import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../fixtures/expect-error.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

describe.each(surfaces)('over $name', (surface) => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer('Postgres');
  });

  afterAll(() => server.stop());

  it('responds with 401 when there is no bearer token', async () => {
    for (const authorization of [
      ...['', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'test-token', 'Basic Bearer test-token'],
    ]) {
      const response = await surface.send(server, plant, { authorization });
      expectError(response, 401, 40100);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="plant-store"');
    }
  });

  it('responds with 401 when the token is unknown', async () => {
    for (const authorization of ['Bearer wrong', 'Bearer test-token x', 'Bearer "test-token"']) {
      const response = await surface.send(server, plant, { authorization });
      expectError(response, 401, 40101);
      expect(response.headers.get('www-authenticate')).toBe(
        'Bearer realm="plant-store", error="invalid_token"',
      );
    }
  });

  it('checks the token before the body and its headers', async () => {
    const response = await surface.send(server, 'not json', {
      authorization: '',
      'content-type': 'text/plain',
    });
    expectError(response, 401, 40100);
  });
});
