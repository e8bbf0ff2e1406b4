import { basename } from 'node:path';
import { PlantStoreError } from '@plant-store/core';
import { define } from '@plant-store/core/internal';
import type { Deprecation, Operation } from '@plant-store/schemas';
import { initTRPC } from '@trpc/server';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../openapi/openapi-document.ts';
import { requireToken } from '../../src/auth/authentication.ts';
import { rest } from '../../src/surfaces/rest.ts';

const operation = (path: `/${string}`, deprecation?: Deprecation) =>
  define({
    type: 'query',
    meta: {
      scope: 'none',
      openapi: { method: 'GET', path, status: 200, ...(deprecation && { deprecation }) },
    },
    input: z.object({}),
    output: z.object({ path: z.string() }),
    run() {
      if (path === '/broken') throw new PlantStoreError('plantUnknown', 'there is no plant');
      return { path };
    },
  });

const anyInput = (openapi: Operation) =>
  define({
    type: 'mutation',
    meta: { scope: 'none', openapi },
    input: z.unknown(),
    output: z.unknown(),
    run: ({ input }) => ({ input }),
  });
const since = '2027-01-31';
const deprecatedProcedures = {
  current: operation('/current'),
  old: operation('/old', { since }),
  ending: operation('/ending', { since, sunset: '2027-07-31' }),
  broken: operation('/broken', { since }),
};

const procedures = {
  ...deprecatedProcedures,
  find: anyInput({ method: 'GET', path: '/plants/{id}', status: 200 }),
  remove: anyInput({ method: 'DELETE', path: '/plants/{id}', status: 200 }),
  rename: anyInput({ method: 'PUT', path: '/plants/{id}/name', status: 200 }),
};

const headers = { authorization: 'Bearer secret' };
const server = fastify();
server.addHook(
  'onRequest',
  requireToken(() => ({ name: 'test', scopes: [] })),
);
server.register(rest, { procedures });

it.each([
  ['/current', undefined, undefined],
  ['/old', '@1801353600', undefined],
  ['/ending', '@1801353600', 'Sat, 31 Jul 2027 00:00:00 GMT'],
  ['/broken', '@1801353600', undefined],
])(
  'responds at %s with the headers Deprecation: %s and Sunset: %s',
  async (url, deprecation, sunset) => {
    const response = await server.inject({ url, headers });
    expect(response.headers['deprecation']).toBe(deprecation);
    expect(response.headers['sunset']).toBe(sunset);
  },
);

it('marks deprecated operations in the OpenAPI document, and declares their headers', () => {
  const router = initTRPC.create().router(deprecatedProcedures);
  const { paths = {}, components } = openApiDocument(router, deprecatedProcedures);
  const declared = Object.entries(paths).map(([path, { get }]) => {
    const { $ref = '', headers: own } = Object(get?.responses?.['200']);
    const headers = Object.keys(own ?? Object(components?.responses?.[basename($ref)]).headers);
    const announced = headers.filter((name) => ['Deprecation', 'Sunset'].includes(name));
    return [path, get?.deprecated ?? false, announced];
  });
  expect(declared).toEqual([
    ['/current', false, []],
    ['/old', true, ['Deprecation']],
    ['/ending', true, ['Deprecation', 'Sunset']],
    ['/broken', true, ['Deprecation']],
  ]);
});

it.each([
  ['GET', '/plants/7?tag=Araceae', undefined, { id: '7', tag: 'Araceae' }],
  ['GET', '/plants/a%2Fb', undefined, { id: 'a/b' }],
  ['DELETE', '/plants/7', undefined, { id: '7' }],
  ['PUT', '/plants/7/name', { name: 'Hoya', id: 8 }, { name: 'Hoya', id: '7' }],
  ['PUT', '/plants/7/name', [1], [1]],
] as const)(
  'takes the input of %s %s from the path, from the query and from the body %j',
  async (method, url, body, input) => {
    const payload = body && { payload: body };
    const response = await server.inject({ method, url, headers, ...payload });
    expect(response.json()).toEqual({ input });
  },
);
