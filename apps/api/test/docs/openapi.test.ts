import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/docs/openapi-document.ts';
import { startServer } from '../fixtures/running-server.ts';

const document = openApiDocument();
const operation = document.paths?.['/plants']?.post;

it('is served exactly as it is committed', async () => {
  const server = await startServer('Postgres');
  const reply = await fetch(`${server.url}/openapi.json`);
  expect(reply.headers.get('content-type')).toBe('application/json');
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(await reply.json()).toEqual(JSON.parse(committed));
  await server.stop();
});

it('has the version, title and license of the contract', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({
    title: expect.stringMatching(/plant store sample/i),
    version: '1.0.0',
    license: { name: 'MIT' },
  });
});

it('requires a bearer token by default', () => {
  expect(document.security).toEqual([{ bearerAuth: [] }]);
  expect(document.components?.securitySchemes).toMatchObject({
    bearerAuth: { type: 'http', scheme: 'bearer' },
  });
  expect(operation).not.toHaveProperty('security');
});

it('has the components of the contract and no others', () => {
  const { schemas = {} } = document.components ?? {};
  expect(Object.keys(schemas).toSorted()).toEqual(['Error', 'NewPlant', 'Plant']);
  expect(schemas['Plant']).toMatchObject({
    required: ['name'],
    properties: { name: { type: 'string' }, tag: { type: 'string' } },
  });
  expect(schemas['NewPlant']).toMatchObject({
    required: ['id', 'name'],
    properties: { id: { type: 'integer', format: 'int64' }, name: {}, tag: {} },
  });
  expect(schemas['Error']).toMatchObject({
    required: ['error', 'message'],
    properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } },
  });
});

it('refers to its components by name', () => {
  const json = 'application/json';
  expect(operation?.requestBody).toEqual({
    required: true,
    content: { [json]: { schema: { $ref: '#/components/schemas/NewPlant' } } },
  });
  for (const [status, response] of Object.entries(operation?.responses ?? {})) {
    const name = status === '200' ? 'Plant' : 'Error';
    expect(response.content[json].schema).toEqual({ $ref: `#/components/schemas/${name}` });
  }
  expect(operation?.responses?.['400'].description).toMatch(/^Unexpected error/);
});
