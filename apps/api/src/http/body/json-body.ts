import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';
import { countValues } from '../memory/count-values.ts';
import type { QueueBody } from './large-body-queue.ts';

/**
 * Makes JSON the only body of the routes in a scope; `read` turns its text into the body, or
 * throws.
 */
export function parseJsonBodies(
  scope: FastifyInstance,
  queueBody: QueueBody,
  read: (text: string) => unknown,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) =>
      queueBody(request, body.length, {
        read() {
          let value: unknown;
          try {
            value = readText(decode(body), read);
          } catch (error) {
            return done(error as Error); // `readText` and `decode` throw nothing else.
          }
          done(null, value);
        },
        fail: done,
      }),
  );
}

/** Whether a body is a JSON object. */
export function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/** The error for a body that is not JSON. */
export function bodyNotJson(why: string, cause?: unknown): HttpError {
  return new HttpError('bodyNotJson', `the body is not JSON (${why}): send one JSON value`, {
    cause,
  });
}

/** Reads a JSON text. The error that `read` throws says why the text is not JSON. */
export function readText(text: string, read: (text: string) => unknown): unknown {
  try {
    return read(text);
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw bodyNotJson(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw bodyNotJson('it is not UTF-8');
  const text = body.toString();
  if (text.length > maxValues && countValues(text) > maxValues) {
    const message = `the body has over ${maxValues} values: send fewer plants in one call`;
    throw new HttpError('bodyTooLarge', message);
  }
  return text;
}

/**
 * The most values in a body. The time to read a body depends on them, and meanwhile the server does nothing
 * else. The largest batch of plants needs half of them.
 */
const maxValues = 20_000;
