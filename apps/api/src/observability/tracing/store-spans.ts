import type { AsyncLocalStorage } from 'node:async_hooks';
import type { TracingChannel } from 'node:diagnostics_channel';
import {
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  databaseCode,
  diagnostics,
  type TracedBatch,
  type TracedCall,
  type TracedStatement,
} from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { toHttpError } from '../../errors/http-error.ts';

/** The call or the batch for which the current code works. */
export type Work = CallSpan | TracedBatch;

interface CallSpan {
  readonly span: Span;
  readonly request: FastifyRequest;
}

interface Options {
  readonly tracer: Tracer;
  readonly work: AsyncLocalStorage<Work | undefined>;
  readonly spanOf: (caller: object) => Span | undefined;
}

/**
 * Makes the spans of the store's work, by OpenTelemetry's conventions for databases. Returns a function that
 * ends this.
 *
 * The span of a statement is a child of the first call that the statement carries. The statement has a link
 * to each of its calls, and each call has a link to the statement.
 */
export function traceStore({ tracer, work, spanOf }: Options): () => void {
  /** The callers of the calls that wait for a batch. */
  const callers = new WeakMap<object, CallSpan>();
  const onWait = (call: unknown) => {
    const current = work.getStore();
    if (isOpen(current)) callers.set(Object(call), current);
  };
  diagnostics.wait.subscribe(onWait);
  diagnostics.batch.bindStore(work, (batch) => batch as TracedBatch); // Only `carry` publishes.

  const calls = new WeakMap<TracedCall, Span>();
  diagnostics.call.start.bindStore(
    work,
    (call) => startCall(call as TracedCall) ?? work.getStore(),
  );

  const stops = [
    watch(diagnostics.call, calls.get.bind(calls), (span, { error }) => {
      const { status } = error === undefined ? { status: 200 } : toHttpError(error);
      endSpan(span, status < 400 ? undefined : String(status), status >= 500);
    }),
    watch(diagnostics.statement, startStatement, (span, { error }) => {
      const code = databaseCode(error);
      if (code) span.setAttribute('db.response.status_code', code);
      endSpan(span, error === undefined ? undefined : (code ?? '_OTHER'));
    }),
    watch(
      diagnostics.page,
      () => {
        const current = work.getStore();
        return isOpen(current) ? tracer.startSpan('changes', {}, inside(current.span)) : undefined;
      },
      (span, { result, error }) => {
        if (result) span.setAttribute('plant_store.page.changes', result.changes.length);
        endSpan(span, error === undefined ? undefined : '_OTHER');
      },
    ),
    watch(
      diagnostics.attempt,
      ({ url }) => {
        const { protocol, hostname, port } = new URL(url); // The path may contain secrets.
        const attributes = {
          'http.request.method': 'POST',
          'server.address': hostname,
          'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
        };
        return tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT);
      },
      (span, { result }) => {
        if (result?.status) span.setAttribute('http.response.status_code', result.status);
        endSpan(span, result && !result.error ? undefined : String(result?.status ?? '_OTHER'));
      },
    ),
  ];
  return () => {
    diagnostics.wait.unsubscribe(onWait);
    diagnostics.batch.unbindStore(work);
    diagnostics.call.start.unbindStore(work);
    for (const stop of stops) stop();
  };

  /** Each call of a tRPC request has a span of its own. A REST request is itself the call. */
  function startCall(call: TracedCall): CallSpan | undefined {
    const parent = call.caller && spanOf(call.caller);
    if (!parent) return undefined;
    const request = call.caller as FastifyRequest; // Only requests have a span.
    const isOfTrpc = request.routeOptions.url?.startsWith('/trpc/');
    if (!isOfTrpc || !parent.isRecording()) return { span: parent, request };
    const { path = 'call' } = call;
    const attributes = { 'rpc.system.name': 'trpc', 'rpc.method': path };
    const span = tracer.startSpan(path, { attributes }, inside(parent));
    calls.set(call, span);
    return { span, request };
  }

  function startStatement(statement: TracedStatement): Span | undefined {
    const current = work.getStore();
    if (!current) return undefined;
    const carried = 'calls' in current ? current.calls.filter(({ isSettled }) => !isSettled) : [];
    const waits = new Map<Span, number>();
    for (const call of carried) {
      const caller = callers.get(call);
      if (isOpen(caller)) waits.set(caller.span, call.madeAt);
    }
    if (isOpen(current)) waits.set(current.span, statement.madeAt);
    const [parent] = waits.keys();
    if (!parent) return undefined;
    const isShared = carried.length > 1;
    const [operation, collection] = describe(statement.text);
    const summary = collection ? `${operation} ${collection}` : operation;
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': summary,
      ...(collection && { 'db.collection.name': collection }),
      ...(isShared && { 'db.operation.batch.size': carried.length }),
      ...(statement.address && {
        'server.address': statement.address.host,
        'server.port': statement.address.port,
      }),
    };
    const links = isShared
      ? [...waits.keys()].map((call) => ({ context: call.spanContext() }))
      : [];
    const options = { kind: SpanKind.CLIENT, attributes, links };
    const span = tracer.startSpan(summary, options, inside(parent));
    const now = performance.now();
    for (const [call, madeAt] of waits) {
      call.setAttribute('plant_store.queue.duration', (now - madeAt) / 1_000);
      if (isShared) call.addLink({ context: span.spanContext() });
    }
    return span;
  }
}

/**
 * Whether a statement may belong to a call. A call that follows the feed has too many statements, and work
 * in the background may outlive the call that began it.
 */
function isOpen(work: Work | undefined): work is CallSpan {
  return work !== undefined && 'span' in work && isOpenCall(work);
}

const isOpenCall = ({ span, request }: CallSpan) =>
  request.waitsFrom === undefined && span.isRecording();

/** Ends a span. By the conventions, an error of the client does not make a span an error. */
export function endSpan(
  span: Span,
  errorType: string | undefined,
  isError = errorType !== undefined,
) {
  if (errorType !== undefined) span.setAttribute('error.type', errorType);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

const inside = (span: Span) => trace.setSpan(ROOT_CONTEXT, span);

/** Starts a span for each message of a channel, and ends the span when the work ends. */
function watch<Message extends object>(
  channel: TracingChannel<unknown, Message>,
  start: (message: Message) => Span | undefined,
  end: (span: Span, message: Message) => void,
): () => void {
  const spans = new WeakMap<object, Span>();
  const subscriber = {
    start(message: Message) {
      const span = start(message);
      if (span) spans.set(message, span);
    },
    end() {},
    asyncStart() {},
    asyncEnd(message: Message) {
      const span = spans.get(message);
      if (span) end(span, message);
    },
    error() {},
  };
  channel.subscribe(subscriber);
  return () => channel.unsubscribe(subscriber);
}

/** The first operation in one of the store's statements, and its table. */
function describe(text: string): [operation: string, collection?: string] {
  const [, words = 'select', table] =
    /\b(insert into|delete from|update|copy|from)\s+"?(?:public"?\."?)?(\w+)/i.exec(text) ?? [];
  const [first = ''] = words.toUpperCase().split(' ');
  const operation = first === 'FROM' ? 'SELECT' : first;
  return table === undefined ? [operation] : [operation, table];
}
