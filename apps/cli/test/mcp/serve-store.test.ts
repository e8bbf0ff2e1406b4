import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { openPlantStore } from '@plant-store/core';
import type { Scope } from '@plant-store/schemas';
import { type FaultProxy, startFaultProxy } from '@plant-store/test-setup';
import { beforeAll, expect, it } from 'vitest';
import { connectAssistant, revisions, useServer } from '../fixtures/assistant.ts';
import { useDatabase } from '../fixtures/database.ts';
import { listen } from '../fixtures/listen.ts';
import { run, start } from '../fixtures/run-program.ts';

const database = useDatabase({ isShared: true, isMigrated: true });
const env = useServer(database);
let proxy: FaultProxy;

beforeAll(async () => {
  proxy = await startFaultProxy(env.PLANT_STORE_URL);
  return () => proxy.close();
});

/** A JavaScript number cannot represent the first id exactly. */
const ids = ['9007199254740993', '-9223372036854775808', '9223372036854775807'];

async function withScopes(...scopes: Scope[]): Promise<typeof env> {
  const store = await openPlantStore({ databaseUrl: database.env.DATABASE_URL });
  const token = await store.accessTokens.create(scopes.join(), { scopes });
  await store.close();
  return { ...env, PLANT_STORE_TOKEN: token };
}

const reading = ['find_plants', 'get_plant', 'count_plants'];

it.each(revisions)(
  'creates, finds, counts, gets and deletes plants with exact ids, by the protocol of %s',
  async (revision) => {
    const { client, tools, call } = await connectAssistant(env, { args: ['--write'], revision });
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(await tools()).toEqual([...reading, 'create_plants', 'delete_plant']);
    const plants = ids.map((id) => ({ id, name: `Hoya ${id}`, tag: revision }));
    const stored = plants.map((plant) => ({ ...plant, createdAt: expect.stringMatching(/Z$/) }));
    const results = (result: string) => ids.map((id) => ({ id, result }));
    expect(await call('create_plants', { plants })).toEqual({
      results: results('created'),
      omitted: 0,
    });
    expect((await call('create_plants', { plants })).results).toEqual(results('exists'));
    const [middle, least, greatest] = stored;
    expect(await call('find_plants', { tag: revision, search: 'HOYA' })).toEqual({
      plants: [least, middle, greatest],
    });
    expect(await call('find_plants', { tag: revision, limit: 1 })).toEqual({
      plants: [least],
      next: ids[1],
    });
    expect(await call('find_plants', { after: ids[0] })).toEqual({ plants: [greatest] });
    expect(await call('count_plants', { tag: revision })).toEqual({ count: 3, isExact: true });
    for (const [i, id] of ids.entries()) {
      expect(await call('get_plant', { id })).toEqual(stored[i]);
      expect(await call('delete_plant', { id })).toEqual({ deleted: id });
      await expect(call('get_plant', { id })).rejects.toThrow(`no plant has the id ${id}`);
    }
  },
);

it('offers the number of plants and the list of documentation pages as resources', async () => {
  const url = `${env.PLANT_STORE_URL}/`;
  const { client } = await connectAssistant({ ...env, PLANT_STORE_URL: url });
  const { resources } = await client.listResources();
  const texts = resources.map(async ({ uri }) => {
    const [content] = (await client.readResource({ uri })).contents;
    return content && 'text' in content ? content.text : '';
  });
  const [numbers = '', pages] = await Promise.all(texts);
  expect(JSON.parse(numbers)).toEqual({ count: expect.any(Number), isExact: true });
  expect(pages).toMatch(/^# Plant Store\n/);
});

it('offers only tools for which the token has the scope', async () => {
  const reader = await withScopes('plants:read');
  const args = ['--write'];
  expect(await (await connectAssistant(reader, { args })).tools()).toEqual(reading);
  expect(await (await connectAssistant(env)).tools()).toEqual(reading);
  const creator = await withScopes('plants:create');
  const { tools, call } = await connectAssistant(creator, { args });
  expect(await tools()).toEqual(['create_plants']);
  await expect(call('delete_plant', { id: '1' })).rejects.toThrow('delete_plant not found');
});

/** Starts the command. */
function startOnLines(args: string[] = ['--write'], settings = env) {
  const { child, result } = start(['mcp', ...args], { env: settings });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = (line: string) => child.stdin.write(`${line}\n`);
  const ask = async (line: string): Promise<string> => {
    send(line);
    return (await lines.next()).value ?? '';
  };
  const request = (method: string, params: object = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return {
    child,
    result,
    send,
    initialize: () =>
      ask(
        request('initialize', {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'lines', version: '1' },
        }),
      ),
    list: (method: string) => ask(request(method)),
    call: (name: string, args: object = {}) =>
      ask(request('tools/call', { name, arguments: args })),
  };
}

it('writes ids as texts of digits, and schemas without long integers', async () => {
  const { child, result, initialize, list, call } = startOnLines();
  await initialize();
  expect(await list('tools/list')).not.toMatch(/\d{16}(?!\\)/);
  const id = '9007199254740993';
  const created = `{"results":[{"id":"${id}","result":"created"}],"omitted":0}`;
  const quoted = (json: string) => JSON.stringify(json);
  expect(await call('create_plants', { plants: [{ id, name: 'Hoya' }] })).toBe(
    `{"result":{"content":[{"type":"text","text":${quoted(created)}}],"structuredContent":${created}},"jsonrpc":"2.0","id":1}`,
  );
  expect(await call('get_plant', { id })).toContain(`"structuredContent":{"id":"${id}",`);
  expect(await call('find_plants', { after: '9007199254740992' })).toContain(`[{"id":"${id}",`);
  expect(await call('get_plant', { id: 5 })).toContain('id: must be a text of digits');
  expect(await call('delete_plant', { id })).toContain(`"structuredContent":{"deleted":"${id}"}`);
  child.stdin.end();
  expect(await result).toMatchObject({ code: 0, stderr: '' });
});

it('continues after 10,000 malformed messages, even when nobody reads standard error', async () => {
  const { child, result, initialize, send, call } = startOnLines();
  child.stderr.pause();
  await initialize();
  const malformed = [
    ...['', 'x', '{', '[]', '[1]', 'null', '7', '{}', '"\\ud800"', '\u0000', '{"jsonrpc":"2.0"}'],
    ...['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', '{"jsonrpc":"2.0","id":{},"method":"x"}'],
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_plant","arguments":{"id":"1"}}}',
    '{"jsonrpc":"2.0","id":99,"result":{}}',
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"${'x'.repeat(1_000)}"}}`,
    '['.repeat(10_000),
  ];
  for (let i = 0; i < 10_000; i++) send(malformed[i % malformed.length] ?? '');
  expect(await call('count_plants')).toContain('"isExact":true');
  child.stderr.resume();
  child.stdin.end();
  expect(await result).toMatchObject({ code: 0, stderr: '' });
});

it('returns the errors of the store as results, and continues when the store is up again', async () => {
  const { call } = await connectAssistant(
    { ...env, PLANT_STORE_URL: proxy.url },
    { args: ['--write'] },
  );
  await call('create_plants', { plants: [{ id: '40', name: 'Hoya' }] });
  const other = await call('create_plants', { plants: [{ id: '40', name: 'Pilea' }] });
  expect(other.results).toEqual([
    {
      id: '40',
      error: 40900,
      message: expect.stringContaining('choose an id that is free'),
      result: 'error',
    },
  ]);
  await expect(call('get_plant', { id: '41' })).rejects.toThrow(/"error":40401,.*"action":"treat/);
  const limitError = 'limit: must be an integer from 1 to 100';
  await expect(call('find_plants', { limit: 101 })).rejects.toThrow(limitError);
  await expect(call('find_plants', { limit: '5' })).rejects.toThrow(limitError);
  await expect(call('find_plants', { name: 'Hoya' })).rejects.toThrow('has no parameter "name"');
  proxy.fault = 'refuse';
  await expect(call('get_plant', { id: '40' })).rejects.toThrow('the plant store did not respond');
  proxy.fault = 'none';
  expect(await call('get_plant', { id: '40' })).toMatchObject({ name: 'Hoya' });
});

it('ends the request to the store when the client cancels the call', async () => {
  const counting = Promise.withResolvers<ServerResponse>();
  /** Forwards each request to the store, except `countPlants`, which gets no response. */
  const front = createServer(async ({ url = '', headers }, response) => {
    if (url.includes('countPlants')) return counting.resolve(response);
    const authorization = headers.authorization ?? '';
    const own = await fetch(env.PLANT_STORE_URL + url, { headers: { authorization } });
    response.setHeader('content-type', 'application/json').end(await own.text());
  });
  const { client } = await connectAssistant({ ...env, PLANT_STORE_URL: await listen(front) });
  const cancelled = new AbortController();
  const counted = client.callTool({ name: 'count_plants' }, { signal: cancelled.signal });
  const response = await counting.promise;
  const closed = once(response, 'close');
  cancelled.abort();
  await expect(counted).rejects.toThrow();
  await closed;
  expect(await client.listTools()).toMatchObject({ tools: expect.any(Array) });
});

it.each([
  ['no token', { PLANT_STORE_TOKEN: '' }, 2, 'PLANT_STORE_TOKEN is not set: set it to'],
  ['a wrong token', { PLANT_STORE_TOKEN: 'x' }, 1, 'the access token is'],
  ['a token that no header can hold', { PLANT_STORE_TOKEN: '日' }, 1, 'the access token contains'],
  ['a wrong address', { PLANT_STORE_URL: 'ftp://user:pw@x' }, 2, 'PLANT_STORE_URL is invalid'],
  ['a store that is down', { PLANT_STORE_URL: 'http://127.0.0.1:1' }, 1, 'did not respond: check'],
])(
  'says what to do about %s, and writes nothing to standard output',
  async (_, wrong, code, message) => {
    const result = await run(['mcp'], { env: { ...env, ...wrong } });
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(result.stderr).toMatch(/^plant-store: .+\n$/);
    expect(result.stderr).not.toContain('pw');
  },
);

it('names the package that is missing', async () => {
  const withoutSdk = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        const isSdk = specifier.startsWith('@modelcontextprotocol/');
        return next(specifier, isSdk ? { ...context, parentURL: 'file:///' } : context);
      },
    });`)}`;
  const { code, stderr } = await run(['mcp'], { env, node: ['--import', withoutSdk] });
  expect(stderr).toMatch(/npm install @modelcontextprotocol\/server@2/);
  expect(code).toBe(1);
});
