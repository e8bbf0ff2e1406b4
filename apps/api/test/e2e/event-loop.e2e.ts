import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { jwtSettings } from '../fixtures/identity-provider.ts';
import { bearer, close, contentType, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { token } from '../fixtures/server.ts';

const authorization = bearer(token);

/** The length of a JSON text. A body may have 1 MiB, so a surface can add a little around the text. */
const size = 2 ** 20 - 120;

/** The length of a text in the head of a request. Node rejects a head of 16 KiB. */
const headerSize = 15_000;

const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));

/**
 * Each request contains one of these texts many times, in a path, a header, a parameter, a cursor or a token.
 */
const units: Record<string, string> = {
  'JWT beginnings': 'eyJ',
  slashes: '/',
  commas: ',',
  'percent signs': '%',
  digits: '1',
  'charset parameters': ';charset=',
};

const head = (line: string, headers: readonly string[] = []) =>
  rawRequest(line, [close, ...headers]);

/** A request after which the server closes the connection. */
interface HostileRequest {
  name: string;
  bytes: string | Buffer;
}

/** The heads of requests. A text of one of the `units` takes the place of TEXT. */
const heads = [
  ...['GET', 'POST', 'PUT', 'OPTIONS', 'DELETE'].map((method) => head(`${method} /TEXT`)),
  ...[
    '/plants/TEXT',
    '/trpc/TEXT',
    '/trpc/TEXT?batch=1',
    '/%ffTEXT',
    'http://TEXT/plants',
    '/plants/changes?after=TEXT',
    '/plants?tag=TEXT',
    '/plants?limit=TEXT',
    '/plants?TEXT',
    '/trpc/listPlants?input=TEXT',
    '/trpc/plantChanges?lastEventId=TEXT',
  ].map((target) => head(`GET ${target}`, [authorization])),
  head('GET /plants/changes', [authorization, 'Accept: text/event-stream', 'Last-Event-ID: TEXT']),
  head('GET /plants/changes', [authorization, 'Accept: TEXT']),
  head('GET /plants/1', ['Authorization: Bearer TEXT']),
  head('GET /plants/1', ['Authorization: TEXT']),
  ...[
    ...['X-Request-Id', 'Origin', 'Accept', 'X-Forwarded-For', 'Last-Event-ID', 'trpc-accept'],
    ...['Cookie', 'Accept-Encoding'],
  ].map((name) => head('GET /plants/1', [authorization, `${name}: TEXT`])),
  head('GET /').replace('Host: x', 'Host: TEXT'),
  ...[
    ...['Content-Type: TEXT', 'Content-Type: application/jsonTEXT', 'Content-Encoding: TEXT'],
    ...['Transfer-Encoding: TEXT', 'Expect: TEXT', 'Upgrade: TEXT', 'Content-Length: TEXT'],
  ].map((header) => head('POST /plants', [authorization, header])),
];

function withText([name, unit]: [string, string]): HostileRequest[] {
  const text = fill(unit, headerSize);
  return [
    ...heads.map((each) => ({
      name: `${name} in ${/.*TEXT.*/.exec(each)}`,
      bytes: each.replace('TEXT', text),
    })),
    { name: `${name} as bytes that are not HTTP`, bytes: `${fill(unit, size)}\r\n\r\n` },
  ];
}

const join = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => each(index)).join();

const list = (unit: string) => `[${fill(`${unit},`, size - 100)}0]`;

/** JSON texts of 1 MiB. */
const values: Record<string, string> = {
  'empty lists': list('[]'),
  'deep lists': list(fill('[', 400) + fill(']', 400)),
  'too deep lists': fill('[', size),
  'deep objects': fill('{"a":', size),
  'one number': fill('1', size),
  'one key': `{"${fill('a', size - 20)}":1}`,
  'the same key': `{${fill('"id":1,', size - 20)}"id":2}`,
  'one text': `"${fill('a', size - 20)}"`,
  'one text of escaped emoji': `"${fill('\\ud83e\\udeb4', size - 20)}"`,
  'an open text of quotes after a number': `[1e0,"${fill('\\"', size - 20)}`,
  'the most numbers with exponents': `[${join(24_900, () => '1e0')}]`,
  'the most long integers': `[${join(24_900, () => '1111111111111111999')}]`,
  'the most keys of numbers with exponents': `{${join(24_900, (index) => `"${index.toString(36)}a":1e18`)}}`,
  'the most keys': `{${join(63_900, (index) => `"${index.toString(36)}a":1`)}}`,
  spaces: fill(' ', size),
};

/** JSON texts of 1 MiB for the input of a procedure. */
const inputs: Record<string, string> = {
  ...values,
  ...Object.fromEntries(
    Object.entries(values).map(([name, json]) => [
      `a plant with ${name} as its id`,
      `{"id":${json}}`,
    ]),
  ),
  'small plants': `{"plants":${list('{"id":1,"name":""}')}}`,
  'plants without a name': `{"plants":[${join(1000, (id) => `{"id":${id},"${fill('eyJ', 900)}":1}`)}]}`,
  'a name of nulls': `{"id":-9,"name":"${fill('\\u0000', size - 100)}"}`,
  'a name that ends with a lone surrogate': `{"id":-9,"name":"${fill('a', size - 100)}\\ud83e"}`,
  'a valid batch': `{"plants":[${join(1000, (id) => `{"id":${9_007_199_254_740_993n + BigInt(id)},"name":"${fill('🪴', 480)}"}`)}]}`,
};

/** superjson texts whose metadata has as many types of values as fit in a body, or very long paths. */
const claims: Record<string, string> = {
  'the most claims': claimed('{"a":1}', 31_900, (index) => `"${index.toString(36)}":["bigint"]`),
  'the most claims of texts': claimed('{"a":1}', 63_900, (index) => `"${index.toString(36)}":"x"`),
  'claims of deep paths': claimed(
    '{"a":1}',
    1_000,
    (index) => `"${index}${fill('.a', 990)}":["bigint"]`,
  ),
  'claims of deep paths of empty keys': claimed(
    `${fill('{"":', 490)}0${fill('}', 490)}`,
    5_000,
    (index) => `"${fill('.', 180)}${fill('a', index % 20)}":["bigint"]`,
  ),
  'claims of escaped paths': claimed(
    '{"a":1}',
    1_000,
    (index) => `"${index}${fill('\\\\.', 990)}":["bigint"]`,
  ),
  'claims of ids': claimed(
    `{"plants":[${join(9_000, () => '{"id":"1"}')}]}`,
    9_000,
    (index) => `"plants.${index}.id":["bigint"]`,
  ),
  'one claim of many': `{"json":[1],"meta":{"values":${list('["bigint"]')}}}`,
  'one long path': `{"json":{},"meta":{"values":{"${fill('a.', size - 100)}":["bigint"]}}}`,
};

function claimed(json: string, count: number, each: (index: number) => string): string {
  return `{"json":${json},"meta":{"values":{${join(count, each)}}}}`.slice(0, size * 2);
}

function post(name: string, path: string, body: string): HostileRequest {
  const bytes = Buffer.from(body).subarray(0, 2 ** 20);
  const length = `Content-Length: ${bytes.length}`;
  const start = head(`POST ${path}`, [authorization, contentType, length]);
  return { name: `${name} at ${path}`, bytes: Buffer.concat([Buffer.from(start), bytes]) };
}

/** Sends ASCII characters in chunks of a hundred bytes. */
function postInChunks(name: string, body: string): HostileRequest {
  const start = head('POST /plants', [authorization, contentType, 'Transfer-Encoding: chunked']);
  const chunks = body
    .slice(0, size)
    .replace(/.{1,100}/gs, (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return { name: `${name} in chunks`, bytes: `${start}${chunks}0\r\n\r\n` };
}

/** Invalid plants that cause as many errors as possible, or error messages as long as possible. */
const invalidPlants: Record<string, string> = {
  'empty objects': '{}',
  numbers: '1',
  'plants with wrong types': '{"id":"x","name":1,"tag":1}',
  'plants with U+0000': '{"id":1.5,"name":"\\u0000","tag":"\\u0000"}',
  'plants with quoted ids': '{"id":"1","name":"a"}',
};

/** A batch with as many calls as allowed, each with as many plants as allowed. */
function batchOfInvalid([name, plant]: [string, string]): HostileRequest {
  const input = asInput(`{"plants":[${join(1000, () => plant)}]}`);
  const path = `/trpc/${join(10, () => 'createPlants')}?batch=1`;
  const body = `{${join(10, (index) => `"${index}":${input}`)}}`;
  return post(`ten lists of ${name}`, path, body);
}

const asInput = (json: string) => `{"json":${json}}`;

const callOfTool = (name: string, json: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${json}}}`;

const hostileRequests: Record<string, HostileRequest[]> = {
  'text in the head of a request': Object.entries(units).flatMap(withText),
  'a body over REST': Object.entries(inputs).flatMap(([name, json]) => [
    post(name, '/plants', json),
    post(name, '/plants/batch', json),
  ]),
  'a body over tRPC': Object.entries({ ...inputs, ...claims }).flatMap(([name, json]) => {
    const body = name in claims ? json : asInput(json);
    return [
      post(name, '/trpc/createPlant', body),
      post(name, '/trpc/createPlants', body),
      post(name, '/trpc/deletePlant', body),
      post(
        name,
        `/trpc/deletePlant,deletePlant?batch=1`,
        `{"0":${body},"1":${body.slice(0, 100)}}`,
      ),
    ];
  }),
  'a message of MCP': Object.entries(inputs).flatMap(([name, json]) => [
    post(name, '/mcp', json),
    ...['createPlants', 'deletePlant'].map((tool) =>
      post(`${name} for ${tool}`, '/mcp', callOfTool(tool, json)),
    ),
  ]),
  'a body at another place': Object.entries(values).flatMap(([name, json]) => [
    post(name, '/unknown', json),
    postInChunks(name, json),
  ]),
  'a full page of plants': [
    post('a valid batch', '/plants/batch', String(inputs['a valid batch'])),
    ...[
      '/plants?limit=1000',
      '/plants/changes?limit=1000',
      '/plants/count',
      '/trpc/listPlants?input={"json":{"limit":1000}}',
    ].map((path) => ({ name: path, bytes: head(`GET ${path}`, [authorization]) })),
  ],
  'a batch of lists of invalid plants': Object.entries(invalidPlants).map(batchOfInvalid),
};

/** The longest time that one request may block the event loop, in milliseconds of CPU time. */
const limit = 50;

/** On a slow machine, the limit is this multiple of the CPU time for 1 MiB of harmless JSON. */
const factor = 25;

/** Other work of the machine can only add CPU time, so the shortest of several tries counts. */
const tries = 5;

const program = fileURLToPath(new URL('../../bin/server.js', import.meta.url));
const measureTurns = new URL('../fixtures/measure-turns.ts', import.meta.url).href;
let server: ReturnType<typeof fork>;
let url = '';
let longestLine = 0;

beforeAll(async () => {
  server = fork(program, [], {
    execArgv: ['--import', measureTurns],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATABASE_URL: await createDatabase(inject('postgresUrl')),
      PLANT_STORE_TOKEN: token,
      PLANT_STORE_CORS_ORIGINS: 'https://app.example.com',
      PLANT_STORE_TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'trace',
      ...jwtSettings({ jwksUrl: 'http://127.0.0.1:1/keys' }),
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  let lineLength = 0;
  await new Promise<void>((resolve) => {
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (!url) output += text;
      for (const [i, part] of text.split('\n').entries()) {
        lineLength = i === 0 ? lineLength + part.length : part.length;
        longestLine = Math.max(longestLine, lineLength);
      }
      [, url = ''] = /REST +(http:\S+)\/plants/.exec(output) ?? [];
      if (url) resolve();
    });
  });
});

afterAll(() => void server.kill());

it.each(Object.entries(hostileRequests))(
  'a request with %s blocks the event loop for at most 50 ms',
  async (_, requests) => {
    const tooLong: string[] = [];
    for (const request of requests) {
      let least = await measure(request);
      for (let i = 1; i < tries && least.longest > limit; i++) {
        const again = await measure(request);
        if (again.longest < least.longest) least = again;
      }
      if (least.longest > Math.max(limit, factor * least.harmless)) {
        tooLong.push(`${request.name}: ${least.longest} ms`);
      }
    }
    expect(tooLong).toEqual([]);
  },
);

it('no hostile request has caused a long line of the log', () => {
  expect(longestLine).toBeLessThan(4_096);
});

async function measure({ bytes }: HostileRequest) {
  server.send('start');
  await sendRaw(url, bytes);
  server.send('stop');
  const [measurement]: { longest: number; harmless: number }[] = await once(server, 'message');
  if (!measurement) throw new Error('the server has measured nothing');
  return measurement;
}
