import type { AsyncLocalStorage } from 'node:async_hooks';
import type { TracingChannel } from 'node:diagnostics_channel';
import { ROOT_CONTEXT, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import {
  databaseCode,
  describeStatement,
  diagnostics,
  type TracedBatch,
  type TracedCall,
  type TracedStatement,
} from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { toHttpError } from '../../errors/http-error.ts';
import { endSpan, endWithStatus } from './end-span.ts';

/** The call or the batch for which the current code runs. */
export type Work = CallSpan | TracedBatch;

interface CallSpan {
  readonly span: Span;
  readonly request: FastifyRequest;
}

/**
 * Makes spans for the work of the store, by OpenTelemetry's conventions for databases. The returned function
 * stops the tracing.
 *
 * Several calls can share one SQL statement. The statement's span is then a child of the first call's span.
 * The statement's span has links to the spans of all these calls.
 */
export function traceStore(tracer: Tracer, work: AsyncLocalStorage<Work | undefined>): () => void {
  const callers = new WeakMap<object, CallSpan>();
  const onWait = (call: unknown) => {
    const current = work.getStore();
    if (isOpen(current)) callers.set(Object(call), current);
  };
  const calls = new WeakMap<TracedCall, Span>();
  diagnostics.wait.subscribe(onWait);
  diagnostics.batch.bindStore(work, (batch) => batch as TracedBatch);
  diagnostics.call.start.bindStore(work, (call) => startCall(call as TracedCall));
  const stops = [
    watch(
      diagnostics.call,
      (call) => calls.get(call),
      (span, { error }) =>
        endWithStatus(span, error === undefined ? 200 : toHttpError(error).status),
    ),
    watch(diagnostics.statement, startStatement, (span, { error }) => {
      const code = databaseCode(error);
      if (code) span.setAttribute('db.response.status_code', code);
      endSpan(span, error === undefined ? undefined : (code ?? '_OTHER'));
    }),
    watch(diagnostics.page, startPage, (span, { result, error }) => {
      if (result) span.setAttribute('plant_store.page.changes', result.changes.length);
      endSpan(span, error === undefined ? undefined : '_OTHER');
    }),
    watch(diagnostics.attempt, startAttempt, (span, { result }) => {
      const { status, error } = result ?? { error: 'stopped' };
      if (status) span.setAttribute('http.response.status_code', status);
      endSpan(span, error === undefined ? undefined : String(status ?? '_OTHER'));
    }),
  ];
  return () => {
    diagnostics.wait.unsubscribe(onWait);
    diagnostics.batch.unbindStore(work);
    diagnostics.call.start.unbindStore(work);
    for (const stop of stops) stop();
  };

  /** Each call of a tRPC request has a span of its own. A REST request is one call, with one span. */
  function startCall(call: TracedCall): Work | undefined {
    // Every caller is a request, because only the server calls the store.
    const request = call.caller as FastifyRequest | undefined;
    const parent = request?.span;
    if (!parent) return work.getStore();
    if (!request.routeOptions.url?.startsWith('/trpc/')) return { span: parent, request };
    const { path = 'call' } = call;
    const attributes = { 'rpc.system.name': 'trpc', 'rpc.method': path };
    const span = tracer.startSpan(path, { attributes }, inside(parent));
    calls.set(call, span);
    return { span, request };
  }

  function startStatement({ text, madeAt, address }: TracedStatement): Span | undefined {
    const current = work.getStore();
    const waits = new Map<Span, number>(isOpen(current) ? [[current.span, madeAt]] : []);
    const carried = current && 'calls' in current ? current.calls : [];
    const unsettled = carried.filter(({ isSettled }) => !isSettled);
    for (const call of unsettled) {
      const caller = callers.get(call);
      if (isOpen(caller)) waits.set(caller.span, call.madeAt);
    }
    const [parent] = waits.keys();
    if (!parent) return undefined;
    const { operation, table } = describeStatement(text);
    const summary = `${operation} ${table ?? ''}`.trimEnd();
    const isShared = unsettled.length > 1;
    const links = isShared
      ? [...waits.keys()].map((span) => ({ context: span.spanContext() }))
      : [];
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.collection.name': table,
      'db.query.summary': summary,
      'db.operation.batch.size': isShared ? unsettled.length : undefined,
      'server.address': address?.host,
      'server.port': address?.port,
    };
    const options = { kind: SpanKind.CLIENT, attributes, links };
    const span = tracer.startSpan(summary, options, inside(parent));
    for (const [call, since] of waits) {
      call.setAttribute('plant_store.queue.duration', (performance.now() - since) / 1_000);
    }
    return span;
  }

  function startPage(): Span | undefined {
    const current = work.getStore();
    return isOpen(current) ? tracer.startSpan('changes', {}, inside(current.span)) : undefined;
  }

  function startAttempt({ url }: { url: string }): Span {
    const { hostname, port, protocol } = URL.parse(url) ?? {}; // The URL's path may contain a secret.
    const attributes = {
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    };
    return tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT);
  }
}

/**
 * Whether new statements get spans below this call's span. A call that waits for changes makes too many
 * statements for that. An ended call gets no more spans, even when its work continues.
 */
function isOpen(work: Work | undefined): work is CallSpan {
  if (!work || !('span' in work)) return false;
  return work.request.waitsFrom === undefined && work.span.isRecording();
}

const inside = (span: Span) => trace.setSpan(ROOT_CONTEXT, span);

/** Makes a span for each operation that a diagnostics channel reports, from its start to its end. */
function watch<Message extends object>(
  { start, asyncEnd }: TracingChannel<unknown, Message>,
  startSpan: (message: Message) => Span | undefined,
  end: (span: Span, message: Message) => void,
): () => void {
  const spans = new WeakMap<object, Span>();
  const onStart = (message: unknown) => {
    const span = startSpan(message as Message); // Channel messages have no type.
    if (span) spans.set(Object(message), span);
  };
  const onEnd = (message: unknown) => {
    const span = spans.get(Object(message));
    if (span) end(span, message as Message);
  };
  start.subscribe(onStart);
  asyncEnd.subscribe(onEnd);
  return () => {
    start.unsubscribe(onStart);
    asyncEnd.unsubscribe(onEnd);
  };
}
