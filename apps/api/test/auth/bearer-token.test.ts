import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../fixtures/expect-error.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
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

  it('accepts the scheme in upper and lower case', async () => {
    const response = await surface.send(server, plant, { authorization: 'bEARER  test-token' });
    expect(response.status).toBe(200);
  });

  it('checks the token before the body and its headers', async () => {
    const response = await surface.send(server, 'not json', {
      authorization: '',
      'content-type': 'text/plain',
    });
    expectError(response, 401, 40100);
  });

  it('sends 100 Continue only when the token is valid', async () => {
    const request = (token: string) =>
      `POST ${surface.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
      `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
      'Content-Length: 2\r\nExpect: 100-continue\r\n\r\n';
    const valid = await sendRaw(server.url, request(server.token), { afterResponse: '{}' });
    expect(valid.responses).toMatchObject([{ status: 100 }, { status: 400 }]);
    const invalid = await sendRaw(server.url, request('wrong'));
    expect(invalid.responses).toMatchObject([{ status: 401 }]);
  });
});
