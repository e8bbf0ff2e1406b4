import type { Span, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/** Makes spans for the requests of a server, until the server closes. */
export type Tracing = (server: FastifyInstance) => void;

/**
 * Starts to trace when the environment variables of OpenTelemetry ask for traces. The packages of
 * OpenTelemetry are optional, and are loaded only then.
 *
 * @throws an Error that says which variable to change, or which packages to install
 */
export async function startTracing(variables: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  const endpoint =
    variables['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || variables['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const exporter = variables['OTEL_TRACES_EXPORTER'] || 'otlp';
  const isDisabled = variables['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (!endpoint || isDisabled || exporter === 'none') return undefined;
  if (exporter !== 'otlp') throw new Error('OTEL_TRACES_EXPORTER is not valid: set otlp or none');
  const isHttp = URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
  if (!isHttp) throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT is not valid: set an http(s) URL');
  return import('./spans.ts')
    .then(({ createTracing }) => createTracing(variables))
    .catch(explainMissingPackage);
}

function explainMissingPackage(cause: NodeJS.ErrnoException): never {
  const isMissing = cause.code === 'ERR_MODULE_NOT_FOUND';
  if (!isMissing || !cause.message.includes("'@opentelemetry/")) throw cause;
  const remedy = 'run `npm install --include=optional`, or unset OTEL_EXPORTER_OTLP_ENDPOINT';
  throw new Error(`traces need the optional packages @opentelemetry/*: ${remedy}`, { cause });
}

/** Returns the fields of a log line about a request. */
export function traceIds({ span }: { span?: Span | undefined }) {
  const context = span?.spanContext();
  return context && { trace_id: context.traceId, span_id: context.spanId };
}

/** Ends the span of a request or of a call. An error of the client does not make a span an error. */
export function endWithStatus(span: Span | undefined, status: number): void {
  if (!span?.isRecording()) return;
  endSpan(span, status < 400 ? undefined : String(status), status >= 500);
}

export function endSpan(
  span: Span,
  errorType: string | undefined,
  isError = errorType !== undefined,
): void {
  if (errorType !== undefined) span.setAttribute('error.type', errorType);
  if (isError) span.setStatus({ code: 2 satisfies SpanStatusCode.ERROR });
  span.end();
}
