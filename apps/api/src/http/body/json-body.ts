import { isUtf8 } from 'node:buffer';
import { isExact, maxJsonDepth } from '@plant-store/schemas';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';
import { measureJson } from '../memory/measure-json.ts';
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
  if (text.length > maxValues.inexact) checkSize(text);
  return text;
}

/**
 * The most values in a body. The time to read a body depends on them, and meanwhile the server does nothing
 * else. `parseJson` takes longer for a text with numbers that JavaScript would round. A batch of 1,000
 * plants needs a third of the lower limit over REST, and a quarter of the higher one over tRPC.
 */
const maxValues = { exact: 25_000, inexact: 12_000 };

/** Rejects a text before it is parsed. The levels of an envelope around the input are few. */
function checkSize(text: string): void {
  const { values, levels } = measureJson(text);
  if (levels > maxJsonDepth + 10) throw bodyNotJson(`nested more than ${maxJsonDepth} levels deep`);
  const most = isExact(text) ? maxValues.exact : maxValues.inexact;
  if (values <= most) return;
  const message = `the body has over ${most} values: send fewer plants in one call`;
  throw new HttpError('bodyTooLarge', message);
}
