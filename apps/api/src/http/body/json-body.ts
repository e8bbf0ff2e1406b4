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
  if (text.length > maxKeys) checkJsonSize(text);
  return text;
}

/**
 * The most values in a body. The time to read a body depends on them, and meanwhile the server does nothing
 * else. `parseJson` takes longer for a text with numbers that JavaScript would round. Ten batches of 1,000
 * plants in one request over tRPC have fewer.
 */
const maxValues = { exact: 64_000, inexact: 25_000 };

/** The most keys of an object, which take the most time. A batch of 1,000 plants over tRPC has an object with 1,000. */
const maxKeys = 5_000;

/**
 * Rejects a text before it is parsed. The levels of an envelope around the input are few.
 *
 * @param limits the most values, with and without numbers that JavaScript rounds
 */
export function checkJsonSize(text: string, limits = maxValues): void {
  const { values, levels, keys } = measureJson(text);
  if (levels > maxJsonDepth + 10) throw bodyNotJson(`nested more than ${maxJsonDepth} levels deep`);
  const most = isExact(text) ? limits.exact : limits.inexact;
  if (values <= most && keys <= maxKeys) return;
  const message =
    keys > maxKeys
      ? `an object in the body has over ${maxKeys} keys: send fewer`
      : `the body has over ${most} values: send fewer plants or other values in one call`;
  throw new HttpError('bodyTooLarge', message);
}
