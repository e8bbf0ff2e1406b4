import type { PlantStore } from '@plant-store/core';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  authorization,
  contentType,
  lastRequest,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const create = vi.fn<PlantStore['create']>();
const server = shareServer({ create });

beforeEach(() => {
  create.mockReset().mockImplementation(async ({ name }) => ({ name }));
});

const plant = '{"id":1,"name":"x"}';
const createRequest = rawPost(plant);

it.each(surfaces)(
  'keeps the connection open over $name after a body that is not JSON',
  async ({ path }) => {
    const { responses } = await sendRaw(
      server.url,
      rawPost('{', path) + createRequest + lastRequest,
    );
    expect(responses.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(responses[0]?.headers.get('connection')).toBe('keep-alive');
    expect(responses[0]?.body).toContain('"error":40000,');
  },
);

it('keeps the connection open after a request with an unknown expectation', async () => {
  const cake = rawPost(plant, '/plants', ['Expect: cake']);
  const { responses } = await sendRaw(server.url, cake + createRequest + lastRequest);
  expect(responses.map(({ status }) => status)).toEqual([417, 200, 200]);
  expect(create).toHaveBeenCalledTimes(1);
});

const chunked = `${authorization}\r\n${contentType}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;

it.each([
  ['a request with Connection: close', lastRequest, 200],
  ['a request of HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n', 200],
  ['a request to upgrade', rawRequest('GET /livez', ['Connection: Upgrade', 'Upgrade: h2c']), 200],
  ['chunks over HTTP/1.0', `POST /plants HTTP/1.0\r\nConnection: keep-alive\r\n${chunked}`, 400],
  ['chunks over HTTP/2.0', `POST /plants HTTP/2.0\r\nHost: x\r\n${chunked}`, 400],
  ['an unknown method', rawRequest('BREW /plants'), 501],
  ['malformed bytes', rawRequest('GET /', ['A b: c']), 400],
])('processes no request after %s', async (_what, request, status) => {
  const { responses } = await sendRaw(server.url, createRequest + request + createRequest);
  expect(responses.map((response) => response.status)).toEqual([200, status]);
  expect(responses[1]?.headers.get('connection')).toBe('close');
  expect(create).toHaveBeenCalledTimes(1);
});
