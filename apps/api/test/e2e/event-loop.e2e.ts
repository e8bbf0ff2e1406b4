import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createDatabase, freePort } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { jwtSettings } from '../fixtures/identity-provider.ts';
import { bearer, close, contentType, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { token } from '../fixtures/server.ts';

/** The name of a request, and its bytes. The server closes the connection after each request. */
type HostileRequest = [name: string, bytes: string | Buffer];

const authorization = bearer(token);
const head = (line: string, headers: readonly string[] = []) =>
  rawRequest(line, [close, ...headers]);

/** The length of a JSON text. A body of 1 MiB has room for the text and for some bytes around it. */
const size = 2 ** 20 - 120;

const fill = (unit: string, length = size) => unit.repeat(Math.floor(length / unit.length));
const join = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => each(index)).join();
const list = (unit: string) => `[${fill(`${unit},`, size - 100)}0]`;

/** The heads of requests. A long text takes the place of TEXT. */
const heads = [
  ...['GET', 'POST', 'PUT', 'OPTIONS', 'DELETE'].map((method) => head(`${method} /TEXT`)),
  ...[
    ...['/plants/TEXT', '/trpc/TEXT', '/trpc/TEXT?batch=1', '/%ffTEXT', 'http://TEXT/plants'],
    ...['/plants/changes?after=TEXT', '/plants?tag=TEXT', '/plants?limit=TEXT', '/plants?TEXT'],
    ...['/trpc/listPlants?input=TEXT', '/trpc/plantChanges?lastEventId=TEXT'],
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

/** Requests whose head repeats one unit, and bytes that are not HTTP. Node rejects a head over 16 KiB. */
const inHeads = ['eyJ', '/', ',', '%', '1', ';charset='].flatMap((unit): HostileRequest[] => [
  ...heads.map(
    (each): HostileRequest => [
      `many ${unit} in ${/.*TEXT.*/.exec(each)}`,
      each.replace('TEXT', fill(unit, 15_000)),
    ],
  ),
  [`many ${unit} as bytes that are not HTTP`, `${fill(unit)}\r\n\r\n`],
]);

/** Valid and invalid JSON texts of up to 1 MiB. */
const values: Record<string, string> = {
  'empty lists': list('[]'),
  'deep lists': list(fill('[', 400) + fill(']', 400)),
  'too deep lists': fill('['),
  'deep objects': fill('{"a":'),
  'one number': fill('1'),
  'one key': `{"${fill('a', size - 20)}":1}`,
  'the same key': `{${fill('"id":1,', size - 20)}"id":2}`,
  'one text': `"${fill('a', size - 20)}"`,
  'one text of escaped emoji': `"${fill('\\ud83e\\udeb4', size - 20)}"`,
  'an open text of quotes after a number': `[1e0,"${fill('\\"', size - 20)}`,
  'the most numbers with exponents': `[${join(24_900, () => '1e0')}]`,
  'the most long integers': `[${join(24_900, () => '1111111111111111999')}]`,
  'the most keys of numbers': `{${join(24_900, (index) => `"${index.toString(36)}a":1e18`)}}`,
  'the most keys': `{${join(63_900, (index) => `"${index.toString(36)}a":1`)}}`,
  spaces: fill(' '),
};

const plantsWith = (json: string) => `{"plants":[${join(1000, () => json)}]}`;

/** JSON texts of up to 1 MiB for the input of a procedure. */
const inputs = Object.entries({
  ...values,
  ...Object.fromEntries(
    Object.entries(values).map(([name, json]) => [`a plant with ${name} as id`, `{"id":${json}}`]),
  ),
  'small plants': `{"plants":${list('{"id":1,"name":""}')}}`,
  'plants without a name': plantsWith(`{"id":1,"${fill('eyJ', 900)}":1}`),
  'a name of nulls': `{"id":-9,"name":"${fill('\\u0000', size - 100)}"}`,
  'a name that ends with a lone surrogate': `{"id":-9,"name":"${fill('a', size - 100)}\\ud83e"}`,
});

const claimed = (json: string, count: number, each: (index: number) => string) =>
  `{"json":${json},"meta":{"values":{${join(count, each)}}}}`;
const many = '.a'.repeat(990);
const nested = `${fill('{"":', 1_960)}0${fill('}', 490)}`;

/** superjson texts whose metadata has as many entries as possible, or very long paths. */
const claims = Object.entries({
  'the most claims': claimed('{"a":1}', 31_900, (i) => `"${i.toString(36)}":["bigint"]`),
  'the most claims of texts': claimed('{"a":1}', 63_900, (i) => `"${i.toString(36)}":"x"`),
  'claims of deep paths': claimed('{"a":1}', 500, (i) => `"${i}${many}":["bigint"]`),
  'claims of deep paths of empty keys': claimed(
    nested,
    5_000,
    (i) => `"${'.'.repeat(180)}${'a'.repeat(i % 20)}":["bigint"]`,
  ),
  'claims of escaped paths': claimed(
    '{"a":1}',
    340,
    (i) => `"${i}${fill('\\\\.', 2_970)}":["bigint"]`,
  ),
  'claims of ids': claimed(
    `{"plants":[${join(9_000, () => '{"id":"1"}')}]}`,
    9_000,
    (i) => `"plants.${i}.id":["bigint"]`,
  ),
  'one claim of many': `{"json":[1],"meta":{"values":${list('["bigint"]')}}}`,
  'one long path': `{"json":{},"meta":{"values":{"${fill('a.', size - 100)}":["bigint"]}}}`,
});

function post(name: string, path: string, body: string): HostileRequest {
  const bytes = Buffer.from(body).subarray(0, 2 ** 20);
  const length = `Content-Length: ${bytes.length}`;
  const start = head(`POST ${path}`, [authorization, contentType, length]);
  return [`${name} at ${path}`, Buffer.concat([Buffer.from(start), bytes])];
}

/** Makes a request with a body of ASCII characters in chunks of a hundred bytes. */
function postInChunks(name: string, body: string): HostileRequest {
  const start = head('POST /plants', [authorization, contentType, 'Transfer-Encoding: chunked']);
  const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
  const chunks = body.slice(0, size).replace(/.{1,100}/gs, chunk);
  return [`${name} in chunks`, `${start}${chunks}0\r\n\r\n`];
}

const callOfTool = (name: string, json: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${json}}}`;

/** A batch of as many plants as a call may have, with almost 1 MiB of names. */
const largeBatch = `{"plants":[${join(1000, (id) => `{"id":${2n ** 53n + BigInt(id)},"name":"${fill('🪴', 480)}"}`)}]}`;

const hostileRequests: Record<string, HostileRequest[]> = {
  'a long text in its head': inHeads,
  'a body over REST': inputs.flatMap(([name, json]) =>
    ['/plants', '/plants/batch', '/unknown'].map((path) => post(name, path, json)),
  ),
  'a body in chunks': Object.entries(values).map(([name, json]) => postInChunks(name, json)),
  'a body over tRPC': [
    ...inputs.map(([name, json]) => [name, `{"json":${json}}`] as const),
    ...claims,
  ].flatMap(([name, body]) => [
    ...['createPlant', 'createPlants', 'deletePlant'].map((each) =>
      post(name, `/trpc/${each}`, body),
    ),
    post(name, '/trpc/deletePlant,deletePlant?batch=1', `{"0":${body},"1":${body.slice(0, 100)}}`),
  ]),
  'a message of MCP': inputs.flatMap(([name, json]) => [
    post(name, '/mcp', json),
    ...['createPlants', 'deletePlant'].map((tool) =>
      post(`${name} for ${tool}`, '/mcp', callOfTool(tool, json)),
    ),
  ]),
  'a full page of plants': [
    post('a large batch', '/plants/batch', largeBatch),
    ...[
      ...['/plants?limit=1000', '/plants/changes?limit=1000', '/plants/count'],
      '/trpc/listPlants?input={"json":{"limit":1000}}',
    ].map((path): HostileRequest => [path, head(`GET ${path}`, [authorization])]),
  ],
  // These bodies cause as many errors as possible, or messages as long as possible.
  'a batch of ten lists of invalid plants': [
    ...['{}', '1', '{"id":"x","name":1,"tag":1}', '{"id":"1","name":"a"}'],
    '{"id":1.5,"name":"\\u0000","tag":"\\u0000"}',
  ].map((plant) => {
    const calls = join(10, (index) => `"${index}":{"json":${plantsWith(plant)}}`);
    return post(plant, `/trpc/${join(10, () => 'createPlants')}?batch=1`, `{${calls}}`);
  }),
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

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = fork(program, [], {
    execArgv: ['--import', measureTurns],
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      DATABASE_URL: await createDatabase(inject('postgresUrl')),
      PLANT_STORE_TOKEN: token,
      PLANT_STORE_CORS_ORIGINS: 'https://app.example.com',
      PLANT_STORE_TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'trace',
      ...jwtSettings({ jwksUrl: 'http://127.0.0.1:1/keys' }),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await vi.waitFor(() => fetch(url));
});

afterAll(() => void server.kill());

it.each(Object.entries(hostileRequests))(
  'a request with %s blocks the event loop of a fast machine for at most 50 ms',
  async (_, requests) => {
    const tooLong: string[] = [];
    for (const request of requests) {
      let least = await measure(request);
      for (let i = 1; i < tries && least.longest > limit; i++) {
        const again = await measure(request);
        if (again.longest < least.longest) least = again;
      }
      if (least.longest > Math.max(limit, factor * least.harmless)) {
        tooLong.push(`${request[0]}: ${least.longest} ms`);
      }
    }
    expect(tooLong).toEqual([]);
  },
);

async function measure([, bytes]: HostileRequest) {
  server.send('start');
  await sendRaw(url, bytes);
  server.send('stop');
  const [measurement]: { longest: number; harmless: number }[] = await once(server, 'message');
  if (!measurement) throw new Error('the server has measured nothing');
  return measurement;
}
