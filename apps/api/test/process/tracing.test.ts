import { randomBytes } from 'node:crypto';
import { type ReceivedSpan, startOtlpReceiver } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve, stopProgram } from '../fixtures/program.ts';
import { get, post } from '../fixtures/surfaces.ts';

/** The number by which OTLP marks the span of a server. */
const ofServer = 2;

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

/** Makes the ids of a span in a browser, and the header `traceparent` that the browser sends. */
function pageSpan(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

it('16 creates that share a statement have 16 server spans, and one linked database span', async () => {
  const { server, spans } = await startTraced({ PLANT_STORE_METRICS_PORT: '0' });
  const create = (id: number) => post(server, '/plants', JSON.stringify({ id, name: 'x' }));
  await create(0);
  const sql = postgres(server.databaseUrl, { max: 1 });
  await sql`begin`;
  await sql`lock table plants in exclusive mode`; // Inserts wait, reads do not.
  const waiting = () =>
    sql`select from pg_locks where relation = 'plants'::regclass and not granted`;
  const creates = [];
  for (const id of [1, 2]) {
    creates.push(create(id)); // Two statements run at the same time, so further creates wait.
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(id));
  }
  creates.push(...Array.from({ length: 16 }, (_, i) => create(10 + i)));
  await vi.waitFor(async () =>
    expect(await server.metrics()).toMatch(/^plant_store_queue_waiting 16$/m),
  );
  await sql.end(); // The end of the connection ends the transaction.
  await Promise.all(creates);

  const all = await spans();
  const requests = all.filter(({ name, kind }) => name === 'POST /plants' && kind === ofServer);
  const shared = all.filter(({ attributes }) => Number(attributes['db.operation.batch.size']) > 1);
  expect(shared).toMatchObject([
    { name: 'INSERT plants', attributes: { 'db.operation.batch.size': 16 } },
  ]);
  const linked = new Set(shared[0]?.links.map(({ spanId }) => spanId));
  expect(linked.size).toBe(16);
  expect(requests.map(({ spanId }) => spanId)).toEqual(expect.arrayContaining([...linked]));
  expect(linked).toContain(shared[0]?.parentSpanId);
});

it('the span of a request continues the trace of the client, and contains no content of plants', async () => {
  const { server, spans } = await startTraced();
  const { traceId, spanId, traceparent } = pageSpan();
  await post(server, '/plants', '{"id":1,"name":"secret"}');
  await get(server, '/plants?tag=secret', { traceparent, 'x-request-id': 'traced' });
  const all = await spans();
  const request = all.find(({ name, kind }) => name === 'GET /plants' && kind === ofServer);
  expect(request).toMatchObject({ traceId, parentSpanId: spanId });
  expect(request?.attributes).toMatchObject({
    'http.request.method': 'GET',
    'http.route': '/plants',
    'http.response.status_code': 200,
  });
  const statement = all.find(({ name }) => name === 'SELECT plants');
  expect(statement).toMatchObject({ traceId, parentSpanId: request?.spanId });
  const line = server.log().find(({ reqId }) => reqId === 'traced');
  expect(line).toMatchObject({ trace_id: traceId, span_id: request?.spanId });
  expect(JSON.stringify(all)).not.toContain('secret');
});

it.each(['never responds', 'is down'])(
  'the server works and stops as usual when the receiver of its spans %s',
  async (state) => {
    const receiver = await startReceiver(true);
    const url = state === 'is down' ? 'http://127.0.0.1:1' : receiver.url;
    const server = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    expect((await post(server, '/plants', '{"id":1,"name":"x"}')).status).toBe(200);
    expect(await stopProgram(server)).toBe(0);
  },
);
