import { readFile } from 'node:fs/promises';
import { parseJson } from '@plant-store/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import schemasManifest from '../../../../packages/schemas/package.json' with { type: 'json' };
import { close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/server.ts';

const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed);
const operation = document.paths['/plants'].post;
const { schemas } = document.components;

describe('the served document', () => {
  const server = shareServer();
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${server.url}/openapi.json`, { headers });

  it('the generated document equals the committed file', async () => {
    const response = await get();
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(parseJson(await response.text())).toEqual(parseJson(committed));
  });

  it('a client gets the document again only when the client has an older version', async () => {
    // `fetch` adds `Cache-Control: no-cache`, with which a client asks for the whole document.
    const ask = (etag: string) =>
      sendRaw(server.url, rawRequest('GET /openapi.json', [`If-None-Match: ${etag}`, close]));
    const etag = (await get({ 'accept-encoding': 'identity' })).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    expect(await ask(etag)).toMatchObject({ status: 304, body: '' });
    expect(await ask('"old"')).toMatchObject({ status: 200 });
  });
});

it('describes itself as OpenAPI 3.1, with the title, version, license and contact of the plant store sample', () => {
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
  expect(document.components.securitySchemes).toMatchObject({
    bearerAuth: { type: 'http', scheme: 'bearer' },
  });
  expect(operation).not.toHaveProperty('security');
});

it('has the components of the contract', () => {
  const names = [
    'AccessToken',
    'AccessTokenPage',
    'CreateError',
    'CreateResult',
    'CreateResults',
    'CreatedAccessToken',
    'CreatedPlant',
    'Error',
    'Identity',
    'NewAccessToken',
    'NewPlant',
    'NewPlants',
    'Plant',
    'PlantChange',
    'PlantChanges',
    'PlantCount',
    'PlantPage',
    'StoredPlant',
  ];
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names));
  const text = { type: 'string' };
  expect(schemas).toMatchObject({
    Plant: { required: ['name'], properties: { name: text, tag: text } },
    NewPlant: {
      required: ['id', 'name'],
      properties: { id: { type: 'integer', format: 'int64' }, name: text, tag: text },
    },
    Error: {
      required: ['error', 'message'],
      properties: { error: { type: 'integer', format: 'int32' }, message: text },
    },
  });
});

it('the schema NewPlants refers to the schema NewPlant', () => {
  const plant = { $ref: '#/components/schemas/NewPlant' };
  expect(schemas['NewPlants']).toMatchObject({
    required: ['plants'],
    properties: { plants: { type: 'array', items: plant, minItems: 1, maxItems: 1000 } },
  });
  const body = document.paths['/plants/batch'].post.requestBody;
  const { schema } = body.content['application/json'];
  expect(schema).toEqual({ $ref: '#/components/schemas/NewPlants' });
});

it('describes the bounds of ids in words, because JavaScript would round the bounds in a schema', () => {
  expect(committed).not.toMatch(/"(minimum|maximum)": -?9223372036854775/);
  const descriptions: string[] = [];
  JSON.parse(committed, (_key, value) => {
    const { description, format, schema = { format } } = Object(value);
    if (description && schema.format === 'int64') descriptions.push(description);
    return value;
  });
  expect(descriptions.length).toBeGreaterThanOrEqual(7);
  for (const description of descriptions) {
    expect(description).toContain('from -9223372036854775808 to 9223372036854775807');
  }
});

it('the schema CreateResult refers to the schemas of the results, and names the discriminator', () => {
  const [created, error] = ['CreatedPlant', 'CreateError'].map((n) => `#/components/schemas/${n}`);
  const required = expect.arrayContaining(['id', 'result']);
  const mapping = { created, exists: created, error };
  expect(schemas).toMatchObject({
    CreateResult: {
      oneOf: [{ $ref: created }, { $ref: error }],
      discriminator: { propertyName: 'result', mapping },
    },
    CreatedPlant: { required },
    CreateError: { required },
  });
});

it('has only examples that match their schemas', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const all: unknown[] = [];
  JSON.parse(committed, (_key, value) => {
    const { schema, type, example, examples = [] } = Object(value);
    const own = schema
      ? example === undefined
        ? []
        : [example]
      : Array.isArray(examples) && type
        ? examples
        : [];
    for (const each of own) {
      all.push(each);
      const validate = ajv.compile({ ...(schema ?? value), components: document.components });
      expect([each, validate(each) || validate.errors]).toEqual([each, true]);
    }
    return value;
  });
  expect(all.length).toBeGreaterThanOrEqual(20);
});

it('declares the feed as JSON and as events, and the header that resumes the events', () => {
  const { parameters, responses } = document.paths['/plants/changes'].get;
  expect(responses['200'].content).toMatchObject({
    'application/json': { schema: { $ref: '#/components/schemas/PlantChanges' } },
    'text/event-stream': { schema: { type: 'string' }, example: expect.stringMatching(/^event: /) },
  });
  expect(parameters).toContainEqual(
    expect.objectContaining({ in: 'header', name: 'Last-Event-ID', example: expect.any(String) }),
  );
});

it('describes each message that the page about webhooks lists', async () => {
  const page = await readFile(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
  const types = [...page.matchAll(/^\| `(plants\.\w+)` \|/gm)].map(([, type]) => type);
  expect(types).toContain('plants.test');
  expect(Object.keys(document.webhooks).sort()).toEqual(types.sort());
});

it('allows unknown properties in every object, so that later versions can add properties', () => {
  expect(committed).not.toContain('"additionalProperties"');
});

describe.each([true, false])(
  'a JSON Schema validator with the option unicodeRegExp: %s',
  (unicodeRegExp) => {
    const ajv = new Ajv2020({ strict: false, unicodeRegExp });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');

    it.each(['Plant', 'NewPlant'])(
      'the schema %s accepts any text as a name and as a tag',
      (name) => {
        const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
        for (const text of ['🌻', '', 'a\nb\n', 'Ñandú 🪴 竹', '\u007f', '\\x00', 'D800']) {
          expect(validate?.({ id: 1, name: text, tag: text })).toBe(true);
        }
        expect(validate?.({ id: 1, name: 'a\0b' })).toBe(false);
        expect(validate?.({ id: 1, name: '🌻', tag: '\0' })).toBe(false);
      },
    );
  },
);

it('has only patterns with the same meaning in RE2, the regular expressions of Go', () => {
  const texts = ['🌻', '', 'a\nb\n', '\\x00', 'a\0b', '5f70bf18a0860070', '5f70bf18a0860070\n'];
  for (const [, json = ''] of committed.matchAll(/"pattern": (".*")/g)) {
    const pattern: string = JSON.parse(json);
    const matches = (test: (text: string) => boolean) => texts.map((text) => test(text));
    const [go, javascript] = [RE2JS.compile(pattern), new RegExp(pattern)];
    expect(matches((text) => go.test(text))).toEqual(matches((text) => javascript.test(text)));
  }
});

it('declares HEAD wherever it declares GET', () => {
  for (const { get, head } of Object.values<Record<string, unknown>>(document.paths)) {
    expect(Boolean(head)).toBe(Boolean(get));
  }
});
