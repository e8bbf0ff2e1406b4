import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { defaultTextMapGetter, ROOT_CONTEXT, type Span, SpanKind } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { FastifyRequest } from 'fastify';
import { showText } from '../../errors/http-error.ts';
import type { Tracing } from './end-span.ts';
import { createProvider } from './provider.ts';
import { traceStore, type Work } from './store-spans.ts';

/** Milliseconds for which a closing server waits until the receiver has taken the last spans. */
const flushTimeout = 1_000;

/** Milliseconds between two warnings about the receiver. */
const quietPeriod = 60_000;

const options = { kind: SpanKind.SERVER };

const propagator = new W3CTraceContextPropagator();

/** Makes the spans of requests, by OpenTelemetry's conventions for HTTP. */
export async function createTracing(variables: NodeJS.ProcessEnv): Promise<Tracing> {
  let warn = () => {};
  const provider = await createProvider(variables, () => warn());
  const tracer = provider.getTracer('plant-store');
  const work = new AsyncLocalStorage<Work | undefined>();

  return (server) => {
    let quietUntil = 0;
    warn = () => {
      if (performance.now() < quietUntil) return;
      quietUntil = performance.now() + quietPeriod;
      server.log.warn('the receiver of OTEL_EXPORTER_OTLP_ENDPOINT takes no spans: check it');
    };
    const stop = traceStore(tracer, work);
    server.addHook('onRequest', (request, _reply, done) => {
      const span = startSpan(request);
      request.span = span;
      request.isTraced = span.isRecording();
      if (request.isTraced) work.run({ span, request }, done);
      else done();
    });
    server.addHook('onClose', async () => {
      stop();
      const late = setTimeout(flushTimeout, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    });
  };

  function startSpan(request: FastifyRequest): Span {
    const { headers, routeOptions, url } = request;
    const method = knownMethods.includes(request.method) ? request.method : undefined;
    const name = method ?? 'HTTP';
    const route = routeOptions.url;
    const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const span = tracer.startSpan(route ? `${name} ${route}` : name, options, parent);
    if (!span.isRecording()) return span;
    return span.setAttributes({
      'http.request.method': method ?? '_OTHER',
      'http.route': route,
      'url.path': showText(url.split('?', 1)[0] ?? ''),
      'url.scheme': request.protocol,
      'server.address': showText(request.hostname),
      'server.port': request.port ?? undefined,
      'client.address': request.ip && showText(request.ip),
      'user_agent.original': headers['user-agent'] && showText(headers['user-agent']),
    });
  }
}

/** The names of spans contain only these methods, because clients can send many methods that Node knows. */
const knownMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];
