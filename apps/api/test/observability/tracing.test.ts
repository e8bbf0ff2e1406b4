import { randomBytes } from 'node:crypto';
import { type ReceivedSpan, startOtlpReceiver, statementsOf } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startTracing } from '../../src/observability/tracing/start-tracing.ts';
import { serve, startProgram } from '../fixtures/program.ts';
import { type ServerOnStore, shareStore } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

const startOnStore = shareStore();
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let server: ServerOnStore;
let nextId = 1;

beforeEach(async () => {
  receiver = await startOtlpReceiver();
});

afterEach(async () => {
  await server?.stop(); // Some tests of this file start no server.
  receiver.stop();
  vi.unstubAllEnvs();
});

/** Starts a server with OpenTelemetry variables. The exporter reads some variables from `process.env`. */
async function start(
  variables: Record<string, string> = {},
  options: Parameters<typeof startOnStore>[0] = {},
): Promise<void> {
  const all = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...variables,
  };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  server = await startOnStore({ tracing: await startTracing(process.env), ...options });
}

/** Stops the server, which sends its last spans. */
async function receivedSpans(): Promise<ReceivedSpan[]> {
  await server.stop();
  return receiver.spans();
}

/** Makes the IDs of a span in a browser, and the header `traceparent` that the browser sends. */
function pageSpan(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

const plant = () => JSON.stringify({ id: nextId++, name: 'x' });
const idsOf = ({ traceId, spanId }: Pick<ReceivedSpan, 'traceId' | 'spanId'>) =>
  `${traceId}-${spanId}`;

/** Checks that each call and its SQL statement are connected: by links, or as parent and child. */
function expectLinked(calls: ReceivedSpan[], spans: ReceivedSpan[]): void {
  const inserts = spans.filter(({ name }) => name === 'INSERT plants');
  for (const call of calls) {
    const [statement, ...others] = statementsOf(call, inserts);
    expect(others).toEqual([]);
    if (call.links.length > 0) expect(statement?.links.map(idsOf)).toContain(idsOf(call));
    else expect(statement?.parentSpanId).toBe(call.spanId);
    expect(call.attributes['plant_store.queue.duration']).toBeGreaterThanOrEqual(0);
  }
  const carried = inserts.map(({ attributes }) =>
    Number(attributes['db.operation.batch.size'] ?? 1),
  );
  expect(carried.reduce((sum, size) => sum + size, 0)).toBe(calls.length);
}

it('links 16 simultaneous creates over REST with their statements and with the spans of the browsers', async () => {
  await start();
  const pages = Array.from({ length: 16 }, () => pageSpan());
  await Promise.all(
    pages.map(({ traceparent }) =>
      post(server, '/plants?secret=1', plant(), { traceparent, tracestate: 'vendor=1' }),
    ),
  );
  const spans = await receivedSpans();
  const creates = spans.filter(({ name }) => name === 'POST /plants');
  expect(creates.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]).sort()).toEqual(
    pages.map(({ traceId, spanId }) => [traceId, spanId]).sort(),
  );
  expectLinked(creates, spans);
  expect(creates[0]).toMatchObject({
    kind: 2,
    traceState: 'vendor=1',
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/plants',
      'http.response.status_code': 200,
      'url.path': '/plants',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
    },
  });
  expect(spans.find(({ name }) => name === 'INSERT plants')).toMatchObject({
    kind: 3,
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': 'INSERT plants',
      'server.address': expect.any(String),
      'server.port': expect.any(Number),
    },
  });
  expect(JSON.stringify(spans)).not.toContain('secret');
  const lines = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(lines.map((line) => [line.trace_id, typeof line.databaseTime]).sort()).toEqual(
    pages.map(({ traceId }) => [traceId, 'number']).sort(),
  );
});

it('only the spans of server errors have the HTTP status in the attribute error.type', async () => {
  await start({}, { create: () => Promise.reject(new Error('A bug.')) });
  await post(server, '/plants', plant());
  await post(server, '/trpc/createPlant', `{"json":${plant()}}`);
  await post(server, '/plants', '{}');
  await post({ url: server.url, token: 'wrong' }, '/plants', plant());
  const spans = (await receivedSpans()).map(({ name, attributes }) =>
    [name, attributes['http.response.status_code'], attributes['error.type']].join(' '),
  );
  expect(spans.sort()).toEqual(
    [
      'POST /plants 500 500',
      'POST /trpc/* 500 500',
      'createPlant  500',
      'POST /plants 400 ',
      'POST /plants 401 ',
      'SELECT expires_at  ',
    ].sort(),
  );
});

it('samples a request as the traceparent says, or without a traceparent as OTEL_TRACES_SAMPLER says', async () => {
  await start({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
  const [sampled, unsampled] = [pageSpan(), pageSpan('00')];
  for (const { traceparent } of [sampled, unsampled, { traceparent: '' }]) {
    await post(server, '/plants', plant(), { traceparent });
  }
  const spans = await receivedSpans();
  expect(spans.map(({ name, traceId }) => [name, traceId])).toEqual([
    ['INSERT plants', sampled.traceId],
    ['POST /plants', sampled.traceId],
  ]);
});

it.each([
  ['zeros', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`],
  ['a long text', 'x'.repeat(8_000)],
  ['the version ff', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
  ['two values', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01, 00`],
])('starts a new trace for a traceparent with %s', async (_case, traceparent) => {
  await start();
  const headers = { traceparent, tracestate: '=,'.repeat(2_000) };
  expect((await post(server, '/plants', plant(), headers)).status).toBe(200);
  const request = (await receivedSpans()).find(({ name }) => name === 'POST /plants');
  expect(request?.parentSpanId).toBeUndefined();
  expect(request?.traceState ?? '').toBe('');
});

it('sends protobuf by default', async () => {
  await start({
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_SERVICE_NAME: 'my plants',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,a=b',
  });
  const { traceId, spanId, traceparent } = pageSpan();
  await post(server, '/plants', plant(), { traceparent });
  await server.stop();
  const [{ type, path, body } = expect.fail()] = receiver.requests;
  expect([type, path]).toEqual(['application/x-protobuf', '/v1/traces']);
  for (const text of ['my plants', 'POST /plants', 'INSERT plants']) {
    expect(body.includes(text)).toBe(true);
  }
  for (const id of [traceId, spanId]) expect(body.includes(Buffer.from(id, 'hex'))).toBe(true);
});

it.each([
  ['never responds', () => receiver.url],
  ['is down', () => 'http://127.0.0.1:1'],
])('responds and stops while the receiver of spans %s', async (_case, url) => {
  receiver.stop();
  receiver = await startOtlpReceiver(true);
  const timeout = String(10 * 60_000);
  await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: url(),
    OTEL_EXPORTER_OTLP_TIMEOUT: timeout,
    OTEL_BSP_EXPORT_TIMEOUT: timeout,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  expect((await post(server, '/plants', plant())).status).toBe(200);
  expect((await post(server, '/plants', plant())).status).toBe(200);
  await server.stop();
});

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

it.each([
  {},
  { ...endpoint, OTEL_SDK_DISABLED: 'true' },
  { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
])('does not trace with the variables %j', async (variables) => {
  expect(await startTracing(variables)).toBeUndefined();
});

it.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' },
  { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { ...endpoint, OTEL_TRACES_SAMPLER: 'some' },
  { ...endpoint, OTEL_TRACES_SAMPLER_ARG: '2' },
  { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,b' },
])('rejects the variables %j, and names the invalid variable', async (variables) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const wrong = Object.keys(variables).at(-1) ?? '';
  await expect(startTracing(process.env)).rejects.toThrow(`${wrong} is not valid: set `);
});

it('starts when OTEL_RESOURCE_ATTRIBUTES contains only empty attributes', async () => {
  await start({ OTEL_RESOURCE_ATTRIBUTES: ' , ' });
  await post(server, '/plants', plant());
  expect(await receivedSpans()).not.toEqual([]);
});

it('loads the packages of OpenTelemetry only for traces, and says how to install missing packages', async () => {
  const withoutPackages = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        const isOptional = specifier.startsWith('@opentelemetry/');
        return next(specifier, isOptional ? { ...context, parentURL: 'file:///' } : context);
      },
    });`)}`;
  const settings = { NODE_OPTIONS: `--import=${withoutPackages}` };
  await serve(settings);
  const program = startProgram({ ...settings, ...endpoint });
  expect(await program.ended()).toBe(1);
  expect(program.output()).toMatch(/npm install --include=optional/);
});
