import type { Span, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/** Makes spans for the requests of a server, until the server closes. */
export type Tracing = (server: FastifyInstance) => void;

/** Returns the log fields that name the trace and the span of a request. */
export function traceIds({ span }: { span?: Span | undefined }) {
  const context = span?.spanContext();
  return context && { trace_id: context.traceId, span_id: context.spanId };
}

/** Ends the span of a request or of a call. A client error is not an error of a server's span. */
export function endWithStatus(span: Span | undefined, status: number): void {
  if (span?.isRecording()) endSpan(span, status < 500 ? undefined : String(status));
}

export function endSpan(span: Span, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute('error.type', errorType);
    span.setStatus({ code: 2 satisfies SpanStatusCode.ERROR });
  }
  span.end();
}
