import { readFile } from 'node:fs/promises';
import { parseJson, plantFields } from '@plant-store/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { beforeAll, describe, expect, it } from 'vitest';
import schemasManifest from '../../../../packages/schemas/package.json' with { type: 'json' };
import { openApiDocument } from '../../openapi/openapi-document.ts';
import { shareServer } from '../fixtures/running-server.ts';

const document = openApiDocument();
const operation = document.paths?.['/plants']?.post;
const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
const schemas = document.components?.schemas ?? {};

describe('the served document', () => {
  const server = shareServer({ corsOrigins: ['https://console.example'] });
  let url: string;

  beforeAll(async () => {
    url = `${server.url}/openapi.json`;
  });

  it('is the committed one', async () => {
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(parseJson(await response.text())).toEqual(parseJson(committed));
  });

  it('may be read by pages of any origin', async () => {
    const { headers } = await fetch(url, { headers: { origin: 'https://editor.example' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  it('is sent again only when it has changed', async () => {
    const identity = { 'accept-encoding': 'identity' }; // A compressed response has a weak tag.
    const { headers } = await fetch(url, { headers: identity });
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const condition of [etag, `W/${etag}`, `"old", ${etag}`, '*']) {
      const response = await fetch(url, { headers: { ...identity, 'if-none-match': condition } });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(etag);
      expect(await response.text()).toBe('');
    }
    const changed = await fetch(url, { headers: { 'if-none-match': '"old"' } });
    expect(changed.status).toBe(200);
  });
});

it('is OpenAPI 3.1, and names the plant store sample, its version, its license and a contact', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({
    title: expect.stringMatching(/plant store sample/i),
    version: schemasManifest.version,
    license: { name: 'MIT' },
    contact: { name: expect.any(String) },
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
  expect(Object.keys(schemas).toSorted()).toEqual([
    'CreateResult',
    'CreateResults',
    'Error',
    'Identity',
    'NewPlant',
    'NewPlants',
    'Plant',
    'PlantChange',
    'PlantChanges',
    'PlantCount',
    'PlantPage',
    'StoredPlant',
  ]);
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
  expect(operation?.requestBody).toMatchObject({
    required: true,
    content: { [json]: { schema: { $ref: '#/components/schemas/NewPlant' } } },
  });
  for (const [status, response] of Object.entries(operation?.responses ?? {})) {
    const name = status === '200' ? 'Plant' : 'Error';
    expect(response.content[json].schema).toEqual({ $ref: `#/components/schemas/${name}` });
  }
  expect(operation?.responses?.['400'].description).toMatch(/^Unexpected error/);
});

it('refers to the plant in a list of plants by name, and has an example of such a list', () => {
  const plant = { $ref: '#/components/schemas/NewPlant' };
  expect(schemas['NewPlants']).toMatchObject({
    required: ['plants'],
    properties: { plants: { type: 'array', items: plant, minItems: 1, maxItems: 1000 } },
  });
  const body = document.paths?.['/plants/batch']?.post?.requestBody as Body | undefined; // Not a reference.
  const { schema, example } = body?.content['application/json'] ?? {};
  expect(schema).toEqual({ $ref: '#/components/schemas/NewPlants' });
  const monstera = { id: 4096, name: 'Monstera deliciosa', tag: 'Araceae' };
  expect(example).toMatchObject({ plants: [monstera] });
});

it('has the exact bounds of an id', () => {
  expect(committed).toMatch(/"minimum": -9223372036854775808,\s+"maximum": 9223372036854775807\n/);
});

it('allows the properties of later versions in every object', () => {
  expect(committed).not.toContain('"additionalProperties"');
});

it('has an example body whose id is free in a store with the sample data', async () => {
  const body = operation?.requestBody as Body | undefined; // trpc-to-openapi's type even allows a reference.
  const example = body?.content['application/json'].example;
  expect(Object.keys(example ?? {})).toEqual(['id', ...plantFields]);
  const plants = new URL('../../../../examples/houseplants.ndjson', import.meta.url);
  expect(await readFile(plants, 'utf8')).not.toContain(`"id":${example?.id},`);
});

interface Body {
  content: { 'application/json': { schema: unknown; example: { id: number } } };
}

describe.each([true, false])('for a validator with the flag u: %s', (unicodeRegExp) => {
  const ajv = new Ajv2020({ strict: false, unicodeRegExp });
  addFormats.default(ajv);
  ajv.addSchema(JSON.parse(committed), 'openapi');

  it.each(['Plant', 'NewPlant'])('%s accepts any text as its name and tag', (name) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
    for (const text of ['🌻', '', 'a\nb\n', 'Ñandú 🪴 竹', '\u007f', '\\x00', 'D800']) {
      expect(validate?.({ id: 1, name: text, tag: text })).toBe(true);
    }
    expect(validate?.({ id: 1, name: 'a\0b' })).toBe(false);
    expect(validate?.({ id: 1, name: '🌻', tag: '\0' })).toBe(false);
  });
});

it('has only patterns that mean the same in RE2, which Go uses', () => {
  for (const [, text = ''] of committed.matchAll(/"pattern": (".*")/g)) {
    const pattern = RE2JS.compile(JSON.parse(text));
    for (const name of ['🌻', '', 'a\nb\n', '\\x00']) expect(pattern.test(name)).toBe(true);
    expect(pattern.test('a\0b')).toBe(false);
  }
});
