import { toCatalogueError } from '@plant-store/core/router';
import {
  type ErrorCode,
  type ErrorKind,
  errorCatalogue,
  httpStatus,
  type Scope,
  shorten,
} from '@plant-store/schemas';
import type { FastifyError } from 'fastify';

/** The most bytes of a request body. */
export const bodyLimit = 1024 * 1024;

/** The most characters of a message. */
const maxMessage = 4_000;

/** An error that a client gets as an HTTP response. Only the operator sees the `cause`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly kind: ErrorKind;
  /** For `insufficientScope`: the scope that the token lacks. */
  readonly requiredScope: Scope | undefined;
  /** For `rateLimited`: the seconds after which the client may try again. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    { requiredScope, retryAfter, ...options }: HttpErrorOptions = {},
  ) {
    super(hideTokens(shorten(message, maxMessage)), options);
    this.kind = kind;
    this.requiredScope = requiredScope;
    this.retryAfter = retryAfter;
  }

  /** The field `error` of the response. */
  get code(): ErrorCode {
    return errorCatalogue[this.kind].code;
  }

  get status(): number {
    return httpStatus(this.kind);
  }
}

interface HttpErrorOptions extends ErrorOptions {
  requiredScope?: Scope | undefined;
  retryAfter?: number | undefined;
}

export function bodyTooLarge(): HttpError {
  return new HttpError('bodyTooLarge', `the body is over ${bodyLimit} bytes: send a smaller one`);
}

/** Turns any thrown value into an HttpError. An unknown error becomes the error `internal`. */
export function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const { kind, message, ...options } = fastifyError(thrown) ?? toCatalogueError(thrown);
  return new HttpError(kind, message, options);
}

function fastifyError(thrown: unknown) {
  if (!(thrown instanceof Error)) return undefined;
  // Fastify's errors have a code and a status.
  const { code, message, statusCode = 500 } = thrown as Partial<FastifyError> & Error;
  if (typeof code !== 'string') return undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const tooLarge = 'the body is larger than this path takes: send a smaller one';
    return { kind: 'bodyTooLarge' as const, message: tooLarge };
  }
  // With ECONNRESET, the client has disconnected before the end of its body.
  const isClientError = code === 'ECONNRESET' || (code.startsWith('FST_') && statusCode < 500);
  return isClientError ? { kind: 'malformedRequest' as const, message, cause: thrown } : undefined;
}

/**
 * Shortens a text that a client sent, for a response or the log. Replaces access tokens in the text,
 * because the client may have put its token in the wrong place.
 */
export function showText(text: string): string {
  return hideTokens(shorten(text));
}

export function hideTokens(text: string): string {
  return text.replaceAll(tokens, '…');
}

/**
 * Matches JWTs and the store's tokens, even percent-encoded tokens. An expression that matches each part of
 * a JWT would not run in linear time.
 */
const tokens = /plant(?:_|%(?:25)*5[fF])[\w-]{8,}|eyJ[\w.-]{8,}/g;
