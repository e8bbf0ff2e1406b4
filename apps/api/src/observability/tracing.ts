import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { Span, Tracer } from '@opentelemetry/api';
import {
  databaseCode,
  describeStatement,
  type StatementObserver,
  statementObservers,
} from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { showText } from '../errors/http-error.ts';

/** Each of these variables asks for traces. OpenTelemetry's SDK reads the values, and its other variables. */
const switches = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
];

/** Paths that programs request every few seconds. They get no span. */
const probes = ['/livez', '/readyz', '/metrics'];

/** A statement can carry this number of calls. The SDK's default limit for links is 128. */
const linkCountLimit = 2_048;

/** Milliseconds for which a closing server waits until the receiver has taken the last spans. */
const flushTimeout = 1_000;

/**
 * Starts OpenTelemetry when its variables ask for traces. A request gets a span with its route, and a statement
 * gets a span with links to the requests that share it. Call this function before a server starts.
 *
 * @returns a function that sends the last spans
 * @throws an Error that names the missing packages
 */
export async function startTracing(variables = process.env): Promise<() => Promise<void>> {
  if (!switches.some((name) => variables[name])) return async () => {};
  const [api, { NodeSDK }, { HttpInstrumentation }, { FastifyOtelInstrumentation }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-node'),
      import('@opentelemetry/instrumentation-http'),
      import('@fastify/otel'),
    ]).catch(explainMissingPackage);
  const sdk = new NodeSDK({
    serviceName: variables['OTEL_SERVICE_NAME'] || 'plant-store',
    spanLimits: { linkCountLimit },
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        disableOutgoingRequestInstrumentation: true, // The URL of a webhook may contain a secret.
        ignoreIncomingRequestHook: ({ url = '' }) => probes.includes(url),
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
          request.span = api.trace.getActiveSpan(); // The span of the HTTP instrumentation.
        },
      }),
    ],
  });
  sdk.start();
  // The instrumentation changes the module when a CommonJS module loads it. Ours are ES modules, and Node's
  // loader hooks for these would delay every start.
  createRequire(import.meta.url)('node:http');
  statementObservers.add(statementTracer(api, api.trace.getTracer('plant-store')));
  return async () => {
    await Promise.race([sdk.shutdown().catch(() => {}), setTimeout(flushTimeout)]);
  };
}

/**
 * Makes a span for each statement of a request, by OpenTelemetry's conventions for databases. When several
 * requests share a statement, its span is a child of the first request's span, and has links to all of them.
 */
function statementTracer(
  { SpanKind, SpanStatusCode, ROOT_CONTEXT, trace }: typeof import('@opentelemetry/api'),
  tracer: Tracer,
): StatementObserver {
  return ({ text, callers }) => {
    // Every caller is a request, because only the server calls the store.
    const spans = new Set((callers as FastifyRequest[]).flatMap(({ span }) => span ?? []));
    const [first, ...others] = [...spans].filter((span) => span.isRecording());
    if (!first) return undefined;
    const { operation, table } = describeStatement(text);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.collection.name': table,
      'db.operation.batch.size': callers.length > 1 ? callers.length : undefined,
    };
    const shared: Span[] = others.length > 0 ? [first, ...others] : [];
    const links = shared.map((span) => ({ context: span.spanContext() }));
    const name = `${operation} ${table ?? ''}`.trimEnd();
    const parent = trace.setSpan(ROOT_CONTEXT, first);
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, links }, parent);
    return (error?: unknown) => {
      if (error !== undefined) {
        span.setAttribute('error.type', databaseCode(error) ?? '_OTHER');
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
  };
}

/** Traces omit the query of a URL, because the query may contain a token or the content of a plant. */
function pathOf(url: string): string {
  return showText(url.split('?', 1)[0] ?? '');
}

function explainMissingPackage(cause: NodeJS.ErrnoException): never {
  if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause;
  const remedy = 'run `npm install --include=optional`, or unset the variables OTEL_*';
  throw new Error(`traces need the optional packages of OpenTelemetry: ${remedy}`, { cause });
}
