import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import { databaseCode, describeStatement, statementObservers } from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { pathOf, probes, showText } from './log.ts';

/** Each of these variables turns traces on. OpenTelemetry's SDK itself reads the values of its variables. */
const switches = /^OTEL_(EXPORTER_OTLP_(TRACES_)?ENDPOINT|TRACES_EXPORTER)$/;

/**
 * Starts OpenTelemetry when its variables ask for traces. Each request except a probe then has a span with the
 * route. Call this function before the server is built.
 *
 * @returns a function that waits up to a second until the receiver has taken the last spans
 */
export async function startTracing(variables = process.env): Promise<() => Promise<void>> {
  const isOn = Object.entries(variables).some(([name, value]) => value && switches.test(name));
  if (!isOn) return async () => {};
  const api = await import('@opentelemetry/api');
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { HttpInstrumentation } = await import('@opentelemetry/instrumentation-http');
  const { FastifyOtelInstrumentation } = await import('@fastify/otel');
  const sdk = new NodeSDK({
    serviceName: variables['OTEL_SERVICE_NAME'] || 'plant-store',
    spanLimits: { linkCountLimit: 2_048 }, // A shared statement may have more callers than 128, the default.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        disableOutgoingRequestInstrumentation: true, // The URL of a webhook may contain a secret.
        ignoreIncomingRequestHook: ({ url = '' }) => probes.has(url),
        startIncomingSpanHook: ({ url = '', headers }) => ({
          'url.path': pathOf(url),
          'url.query': '',
          'user_agent.original': showText(headers['user-agent'] ?? ''),
        }),
      }),
      new FastifyOtelInstrumentation({
        registerOnInitialization: true,
        instrumentHooks: false,
        instrumentHandler: false,
        recordExceptions: false,
        requestHook(span, request) {
          span.setAttribute('url.path', pathOf(request.url));
          request.span = api.trace.getActiveSpan(); // The HTTP instrumentation made this span.
        },
      }),
    ],
  });
  sdk.start();
  // This `require` lets the HTTP instrumentation change Node's class `Server`. With `import` alone, the change
  // would need a loader hook, which delays every import.
  createRequire(import.meta.url)('node:http');
  traceStatements(api);
  return () => Promise.race([sdk.shutdown().catch(() => {}), setTimeout(1_000)]);
}

/**
 * Makes a span for each statement of a request, by OpenTelemetry's conventions for databases. When several
 * requests share a statement, its span is a child of the first request's span, and has links to all requests.
 */
function traceStatements(api: typeof import('@opentelemetry/api')): void {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const tracer = trace.getTracer('plant-store');
  statementObservers.add(({ text, callers }) => {
    // Every caller is a request, because only the server calls the store.
    const requests = new Set((callers as FastifyRequest[]).flatMap(({ span }) => span ?? []));
    const spans: Span[] = [...requests].filter((span) => span.isRecording());
    const [first] = spans;
    if (!first) return undefined;
    const { operation, table } = describeStatement(text);
    const options = {
      kind: SpanKind.CLIENT,
      links: spans.length > 1 ? spans.map((span) => ({ context: span.spanContext() })) : [],
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.collection.name': table,
        'db.operation.batch.size': callers.length > 1 ? callers.length : undefined,
      },
    };
    const name = `${operation} ${table ?? ''}`.trimEnd();
    const span = tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, first));
    return (error) => {
      if (error !== undefined) {
        span.setAttribute('error.type', databaseCode(error) ?? '_OTHER');
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
  });
}
