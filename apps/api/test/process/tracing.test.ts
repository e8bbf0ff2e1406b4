import { randomBytes } from 'node:crypto';
import { type ReceivedSpan, startOtlpReceiver } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve, startProgram, stopProgram } from '../fixtures/program.ts';
import { get, post } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

async function startReceiver(isSilent = false) {
  const receiver = await startOtlpReceiver(isSilent);
  onTestFinished(receiver.stop);
  return receiver;
}

/** Starts a server that sends its spans to a receiver as JSON. */
async function startTraced(variables: Record<string, string> = {}) {
  const receiver = await startReceiver();
  const server = await serve({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...variables,
  });
  const spans = async (): Promise<ReceivedSpan[]> => {
    await stopProgram(server); // The server sends its last spans before it exits.
    return receiver.spans();
  };
  return { server, spans };
}

/** Makes the IDs of a span in a browser, and the header `traceparent` that the browser sends. */
function pageSpan(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

it('the span of a request continues the trace of the client, and names no query or value', async () => {
  const { server, spans } = await startTraced();
  const { traceId, spanId, traceparent } = pageSpan();
  await post(server, '/plants', '{"id":1,"name":"secret"}');
  await get(server, '/plants?tag=secret', { traceparent });
  const all = await spans();
  const request = all.find(({ name }) => name === 'GET /plants');
  expect(request).toMatchObject({ traceId, parentSpanId: spanId });
  expect(request?.attributes).toMatchObject({
    'http.request.method': 'GET',
    'http.route': '/plants',
    'http.response.status_code': 200,
  });
  expect(JSON.stringify(all)).not.toContain('secret');
});

it('the span of a statement belongs to the request that waits for it', async () => {
  const { server, spans } = await startTraced();
  await post(server, '/plants', plant);
  const all = await spans();
  const request = all.find(({ name }) => name === 'POST /plants');
  const statement = all.find(({ name }) => name === 'INSERT plants');
  const linked = statement?.links.map(({ spanId }) => spanId) ?? [];
  const ancestors = [statement?.parentSpanId, ...linked];
  expect(ancestors).toContain(request?.spanId);
});

it('a request is sampled as its traceparent says, or else as OTEL_TRACES_SAMPLER says', async () => {
  const { server, spans } = await startTraced({
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  const [sampled, unsampled] = [pageSpan(), pageSpan('00')];
  for (const { traceparent } of [sampled, unsampled, { traceparent: '' }]) {
    await post(server, '/plants', plant, { traceparent });
  }
  expect(new Set((await spans()).map(({ traceId }) => traceId))).toEqual(
    new Set([sampled.traceId]),
  );
});

it.each(['x'.repeat(8_000), `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, `00-${'0'.repeat(32)}`])(
  'an invalid traceparent starts a new trace (%#)',
  async (traceparent) => {
    const { server, spans } = await startTraced();
    expect((await post(server, '/plants', plant, { traceparent })).status).toBe(200);
    const request = (await spans()).find(({ name }) => name === 'POST /plants');
    expect(request?.parentSpanId ?? '').toBe('');
  },
);

it.each(['never responds', 'is down'])('a receiver that %s disturbs nobody', async (state) => {
  const receiver = await startReceiver(true);
  const url = state === 'is down' ? 'http://127.0.0.1:1' : receiver.url;
  const server = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '1' });
  for (const _ of [1, 2]) expect((await post(server, '/plants', plant)).status).toBe(200);
  if (state !== 'is down') await vi.waitFor(() => expect(receiver.requests).not.toEqual([]));
  expect(await stopProgram(server)).toBe(0);
});

it.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' },
  { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
])('the variables %j stop the start, and the message names the invalid one', async (variables) => {
  const program = startProgram({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    ...variables,
  });
  expect(await program.ended()).toBe(1);
  expect(program.output()).toContain(Object.keys(variables).at(-1));
});
