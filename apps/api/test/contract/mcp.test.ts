import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Scope } from '@plant-store/schemas';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { post, tokenWith } from '../fixtures/surfaces.ts';

const server = shareServer();

/** Connects a client of the official MCP SDK. */
async function connect(token = server.token, mode: 'auto' | 'legacy' = 'auto') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`${server.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return { isError, output: JSON.parse(text) };
  };
  return { client, call };
}

/** The result of a tool call that failed. */
const errorOf = (error: number) => ({
  isError: true,
  output: { error, message: expect.any(String) },
});

/** Sends a body unchanged. */
async function send(body: string, headers: Record<string, string> = {}) {
  const response = await post(server, '/mcp', body, headers);
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), text };
}

/** Each message of the MCP revision 2026-07-28 has this `_meta`. */
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const listenHeaders = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'subscriptions/listen',
};

const message = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

describe.each(['auto', 'legacy'] as const)('an assistant in the mode "%s"', (mode) => {
  const id = mode === 'auto' ? '9223372036854775807' : '-9223372036854775808';

  it('creates, gets, lists, counts, replaces and deletes plants, with exact ids', async () => {
    const { call } = await connect(server.token, mode);
    const plant = { id, name: 'Ficus "robusta" 🪴', tag: mode };
    const created = await call('createPlants', { plants: [plant] });
    expect(created.output).toEqual({ results: [{ id, result: 'created' }] });
    const { output } = await call('getPlant', { id });
    expect(output).toMatchObject({ ...plant, etag: expect.any(String) });
    expect((await call('listPlants', { tag: mode })).output.plants).toMatchObject([plant]);
    expect((await call('countPlants', { tag: mode })).output).toEqual({ count: 1, isExact: true });
    const replacement = { id, name: 'Ficus elastica', ifMatch: output.etag };
    const replaced = await call('replacePlant', replacement);
    expect(replaced.output).toMatchObject({ name: 'Ficus elastica' });
    expect(await call('replacePlant', replacement)).toMatchObject(errorOf(41200));
    expect(await call('deletePlant', { id })).toEqual({ isError: false, output: 'done' });
    expect(await call('deletePlant', { id })).toMatchObject(errorOf(40401));
  });

  it('gets the error code in the data of an error', async () => {
    const { client } = await connect(server.token, mode);
    await expect(client.callTool({ name: 'createWebhook' })).rejects.toMatchObject({
      data: { error: 40400 },
    });
  });
});

it.each(['7.5', '007', 'x', '9223372036854775808', 2 ** 53])('%j is not a valid id', async (id) => {
  const { call } = await connect();
  expect(await call('getPlant', { id })).toMatchObject(errorOf(40001));
});

it('offers only the tools that the scopes of the token allow', async () => {
  const namesFor = async (scopes: Scope[]) => {
    const { client } = await connect(await tokenWith(server, scopes));
    return (await client.listTools()).tools.map(({ name }) => name).toSorted();
  };
  const reading = await namesFor(['plants:read']);
  expect(reading).toEqual(expect.arrayContaining(['getPlant', 'listPlants', 'whoAmI']));
  expect(reading).not.toContain('createPlants');
  expect(await namesFor(['webhooks:manage'])).toEqual(['whoAmI']);
  const { call } = await connect(await tokenWith(server, ['plants:read']));
  expect(await call('deletePlant', { id: '1' })).toMatchObject(errorOf(40300));
});

it('describes ids as strings, and marks read-only and destructive tools', async () => {
  const { tools } = await (await connect()).client.listTools();
  expect(JSON.stringify(tools)).not.toContain('int64');
  const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  expect(byName).toMatchObject({
    getPlant: {
      inputSchema: { properties: { id: { type: 'string' } } },
      annotations: { readOnlyHint: true },
    },
    deletePlant: { annotations: { destructiveHint: true } },
  });
});

it('listPlants returns one page, and `next` leads to the next page', async () => {
  const { call } = await connect();
  const plants = [1, 2, 3].map((id) => ({ id: `${id}`, name: 'x', tag: 'pages' }));
  await call('createPlants', { plants });
  const { output } = await call('listPlants', { tag: 'pages', limit: 2 });
  const rest = await call('listPlants', { tag: 'pages', limit: 2, after: output.next });
  expect([...output.plants, ...rest.output.plants]).toMatchObject(plants);
});

it.each([
  ['a message without a token', 401, 40100, message('tools/list'), { authorization: '' }],
  ['another content type', 415, 41500, message('tools/list'), { 'content-type': 'text/plain' }],
  ['a body that is not JSON', 400, 40000, '{', {}],
  ['a list of messages', 400, 40002, `[${message('tools/list')},${message('tools/list')}]`, {}],
  ['a response instead of a request', 400, 40002, '{"jsonrpc":"2.0","id":1,"result":{}}', {}],
  ['a message with a list as its id', 400, 40002, '{"jsonrpc":"2.0","id":[],"method":"ping"}', {}],
  ['a message over 1 MiB', 413, 41300, message('x', { x: 'x'.repeat(2 ** 20) }), {}],
  ['a subscription', 200, 40002, message('subscriptions/listen', { _meta }), listenHeaders],
  ['an unknown method', 200, 40400, message('resources/list'), {}],
  ['a call that names no tool', 200, 40002, message('tools/call'), {}],
  ['an incomplete message', 200, 40002, message('initialize'), {}],
])('responds with a JSON-RPC error to %s', async (_what, status, error, body, headers) => {
  const response = await send(body, headers);
  expect(response.text).not.toContain('invalid_type');
  expect([response.status, response.type]).toEqual([status, 'application/json']);
  expect(JSON.parse(response.text)).toMatchObject({
    jsonrpc: '2.0',
    error: { code: expect.any(Number), message: expect.any(String), data: { error } },
  });
});

it('sends no body in response to a notification, and accepts only the method POST', async () => {
  const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  expect(await send(notification)).toMatchObject({ status: 202, text: '' });
  const { status, headers } = await fetch(`${server.url}/mcp`);
  expect([status, headers.get('allow')]).toEqual([405, 'POST']);
});

it('responds to random messages with a status below 500, and with errors below 50000', async () => {
  const methods = ['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover'];
  const optional = <T>(record: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
    fc.oneof(fc.record(record, { requiredKeys: [] }), fc.jsonValue());
  const anyMessage = optional({
    jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
    id: fc.oneof(fc.nat(), fc.jsonValue()),
    method: fc.oneof(fc.constantFrom(...methods), fc.jsonValue()),
    params: optional({
      name: fc.constantFrom('createPlants', 'getPlant', '__proto__'),
      arguments: fc.jsonValue(),
      _meta: fc.oneof(fc.constant(_meta), fc.jsonValue()),
    }),
  });
  const property = fc.asyncProperty(anyMessage, async (each) => {
    const { status, text } = await send(JSON.stringify(each));
    expect(status).toBeLessThan(500);
    const { error } = text ? JSON.parse(text) : {};
    if (error) expect(Math.floor(error.data.error / 10_000)).toBe(4);
  });
  await fc.assert(property, { numRuns: 500 });
  const { status } = await send(message('tools/list'));
  expect(status).toBe(200);
});
