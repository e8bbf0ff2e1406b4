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
const { schemas } = document.components;
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Lists all objects of the document. */
function objects(): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  JSON.parse(committed, (_key, value) => {
    if (typeof value === 'object' && value !== null) found.push(value);
    return value;
  });
  return found;
}

describe('the served document', () => {
  const server = shareServer();
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${server.url}/openapi.json`, { headers });

  it('equals the committed file', async () => {
    const response = await get();
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(parseJson(await response.text())).toEqual(parseJson(committed));
  });

  it('is sent again only to a client that has an older version', async () => {
    // `fetch` would add `Cache-Control: no-cache`, and the server would send the whole document.
    const ask = (etag: string) =>
      sendRaw(server.url, rawRequest('GET /openapi.json', [`If-None-Match: ${etag}`, close]));
    const etag = (await get({ 'accept-encoding': 'identity' })).headers.get('etag') ?? '';
    expect(await ask(etag)).toMatchObject({ status: 304, body: '' });
    expect(await ask('"old"')).toMatchObject({ status: 200 });
  });
});

it('the document is OpenAPI 3.1, has the title of the contract, and requires a bearer token', () => {
  expect(document).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: {
      title: expect.stringMatching(/plant store sample/i),
      version: schemasManifest.version,
      license: { name: 'MIT' },
    },
    components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
  });
  expect(document.security).toEqual([{ bearerAuth: [] }]);
  expect(document.paths['/plants'].post).not.toHaveProperty('security');
  // A relative URL works behind a proxy with any path prefix.
  expect(document.servers).toEqual([{ url: expect.stringMatching(/^\.\/?$/) }]);
});

it('the document has the schemas of the contract, which refer to each other by name', () => {
  const text = { type: 'string' };
  const [created, error] = [reference('CreatedPlant'), reference('CreateError')];
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
    NewPlants: {
      properties: { plants: { items: reference('NewPlant'), minItems: 1, maxItems: 1000 } },
    },
    CreateResult: {
      oneOf: [created, error],
      discriminator: {
        propertyName: 'result',
        mapping: { created: created.$ref, exists: created.$ref, error: error.$ref },
      },
    },
    PlantPage: { properties: { plants: { items: reference('StoredPlant') } } },
    PlantChanges: { properties: { changes: { items: reference('PlantChange') } } },
    AccessTokenPage: { properties: { tokens: { items: reference('AccessToken') } } },
  });
  const { schema } = document.paths['/plants/batch'].post.requestBody.content['application/json'];
  expect(schema).toEqual(reference('NewPlants'));
});

it('the document describes the bounds of ids in words, because JavaScript would round the bounds in a schema', () => {
  expect(committed).not.toMatch(/"(minimum|maximum)": -?9223372036854775/);
  const ids = objects().filter(({ description, format, schema = { format } }) =>
    Boolean(description && Object(schema).format === 'int64'),
  );
  expect(ids.length).toBeGreaterThanOrEqual(7);
  for (const { description } of ids) {
    expect(description).toContain('from -9223372036854775808 to 9223372036854775807');
  }
});

it('the document has only examples that match their schemas', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const examples = objects().flatMap(({ schema, type, example, examples, ...others }) => {
    if (schema) return example === undefined ? [] : [[schema, example]];
    const own = { type, ...others };
    return type && Array.isArray(examples) ? examples.map((each) => [own, each]) : [];
  });
  expect(examples.length).toBeGreaterThanOrEqual(20);
  for (const [schema, example] of examples) {
    const validate = ajv.compile({ ...schema, components: document.components });
    expect([example, validate(example) || validate.errors]).toEqual([example, true]);
  }
});

it('the document declares the feed as JSON and as events, and the parameter that resumes the events', () => {
  const { parameters, responses } = document.paths['/plants/changes'].get;
  expect(responses['200'].content).toMatchObject({
    'application/json': { schema: reference('PlantChanges') },
    'text/event-stream': { schema: { type: 'string' }, example: expect.stringMatching(/^event: /) },
  });
  expect(parameters).toContainEqual(
    expect.objectContaining({ in: 'query', name: 'lastEventId', example: expect.any(String) }),
  );
});

it('the parameters of an operation have different names, even without hyphens and in lower case', () => {
  for (const { parameters } of objects()) {
    if (!Array.isArray(parameters)) continue;
    const names = parameters.map(({ name }) => String(name).replaceAll('-', '').toLowerCase());
    expect(new Set(names).size, String(names)).toBe(names.length);
  }
});

it('the document allows unknown properties in every object, so that later versions can add properties', () => {
  expect(committed).not.toContain('"additionalProperties"');
});

it.each([true, false])(
  'the document allows every character except U+0000 in names and tags (unicodeRegExp: %s)',
  (unicodeRegExp) => {
    const ajv = new Ajv2020({ strict: false, unicodeRegExp });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    for (const name of ['Plant', 'NewPlant']) {
      const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
      for (const text of ['🌻', '', 'a\nb\n', 'Ñandú 🪴 竹', '\u007f', '\\x00', 'D800']) {
        expect(validate?.({ id: 1, name: text, tag: text })).toBe(true);
      }
      expect(validate?.({ id: 1, name: 'a\0b' })).toBe(false);
    }
  },
);

it('each pattern of the document matches the same texts in JavaScript and in RE2, the engine of Go', () => {
  const texts = ['🌻', '', 'a\nb\n', '\\x00', 'a\0b', '5f70bf18a0860070', '5f70bf18a0860070\n'];
  for (const [, json = ''] of committed.matchAll(/"pattern": (".*")/g)) {
    const [go, javascript] = [RE2JS.compile(JSON.parse(json)), new RegExp(JSON.parse(json))];
    for (const text of texts) expect([text, go.test(text)]).toEqual([text, javascript.test(text)]);
  }
});

it('the document declares HEAD for each GET, and the common statuses for each operation', () => {
  const everywhere = ['400', '401', '404', '429', '503', 'default'];
  for (const path of Object.values<Record<string, { responses: object }>>(document.paths)) {
    expect('head' in path).toBe('get' in path);
    for (const { responses } of Object.values(path)) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(everywhere));
    }
  }
});
