import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { defaultTextMapGetter, ROOT_CONTEXT, type Span, SpanKind } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { showText } from '../../errors/http-error.ts';
import type { Provider } from './provider.ts';
import { endSpan, traceStore, type Work } from './store-spans.ts';
import type { Tracing } from './tracing.ts';

/** Milliseconds for which a closing server waits for the receiver of its last spans. */
const flushTimeout = 1_000;

/** Milliseconds between two warnings about a receiver that is down. */
const quietPeriod = 60_000;

const propagator = new W3CTraceContextPropagator();

/** Makes the spans of requests, by OpenTelemetry's conventions for HTTP. */
export function createTracing({ provider, onError }: Provider): Tracing {
  const tracer = provider.getTracer('plant-store');
  const spans = new WeakMap<object, Span>();
  const work = new AsyncLocalStorage<Work | undefined>();

  return {
    trace(server) {
      const stop = traceStore({ tracer, work, spanOf: (request) => spans.get(request) });
      warnOfErrors(server);
      server.addHook('onRequest', (request, _reply, done) => {
        const span = startRequest(request);
        spans.set(request, span);
        work.run({ span, request }, done);
      });
      server.addHook('onClose', async () => {
        stop();
        const late = setTimeout(flushTimeout, undefined, { ref: false });
        await Promise.race([provider.shutdown().catch(() => {}), late]);
      });
    },
    endRequest(request, status) {
      const span = spans.get(request);
      if (!span?.isRecording()) return;
      span.setAttribute('http.response.status_code', status);
      endSpan(span, status < 400 ? undefined : String(status), status >= 500);
    },
    idsOf(request) {
      const context = spans.get(request)?.spanContext();
      return context && { trace_id: context.traceId, span_id: context.spanId };
    },
  };

  function startRequest(request: FastifyRequest): Span {
    const { method, headers, routeOptions, url } = request;
    const { url: route } = routeOptions;
    const known = knownMethods.has(method) ? method : '_OTHER';
    const name = known === '_OTHER' ? 'HTTP' : known;
    const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const span = tracer.startSpan(
      route === undefined ? name : `${name} ${route}`,
      { kind: SpanKind.SERVER },
      parent,
    );
    if (!span.isRecording()) return span;
    span.setAttributes({
      'http.request.method': known,
      'http.route': route,
      'url.path': showText(url.split('?', 1)[0] ?? ''),
      'url.scheme': request.protocol,
      'server.address': request.hostname && showText(request.hostname),
      'server.port': request.port ?? undefined,
      'client.address': request.ip && shorten(request.ip),
      'user_agent.original': headers['user-agent'] && showText(headers['user-agent']),
    });
    return span;
  }

  function warnOfErrors({ log }: FastifyInstance): void {
    let quietUntil = 0;
    onError(() => {
      if (performance.now() < quietUntil) return;
      quietUntil = performance.now() + quietPeriod;
      log.warn('the receiver at OTEL_EXPORTER_OTLP_ENDPOINT takes no spans: check its address');
    });
  }
}

/** Clients can send each of the many methods that Node knows, so the names of spans have only these. */
const knownMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
