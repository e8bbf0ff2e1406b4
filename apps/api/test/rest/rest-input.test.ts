import { define } from '@plant-store/core/internal';
import type { Operation } from '@plant-store/schemas';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { requireToken } from '../../src/auth/authentication.ts';
import { rest } from '../../src/surfaces/rest.ts';

const anyInput = (openapi: Operation) =>
  define({
    type: 'mutation',
    meta: { scope: 'none', openapi },
    input: z.unknown(),
    output: z.unknown(),
    run: ({ input }) => ({ input }),
  });
const procedures = {
  find: anyInput({ method: 'GET', path: '/plants/{id}', status: 200 }),
  remove: anyInput({ method: 'DELETE', path: '/plants/{id}', status: 200 }),
  rename: anyInput({ method: 'PUT', path: '/plants/{id}/name', status: 200 }),
};

const server = fastify();
server.addHook(
  'onRequest',
  requireToken(() => ({ name: 'test', scopes: [] })),
);
server.register(rest, { procedures });

it.each([
  ['GET', '/plants/7?tag=Araceae', undefined, { id: '7', tag: 'Araceae' }],
  ['GET', '/plants/a%2Fb', undefined, { id: 'a/b' }],
  ['DELETE', '/plants/7', undefined, { id: '7' }],
  ['PUT', '/plants/7/name', { name: 'Hoya', id: 8 }, { name: 'Hoya', id: '7' }],
  ['PUT', '/plants/7/name', [1], [1]],
] as const)(
  'takes the input of %s %s from the path, from the query and from the body %j',
  async (method, url, body, input) => {
    const response = await server.inject({
      method,
      url,
      headers: { authorization: 'Bearer secret' },
      ...(body && { payload: body }),
    });
    expect(response.json()).toEqual({ input });
  },
);
