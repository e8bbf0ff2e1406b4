import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';
import { isLarge } from '../memory/limit-memory.ts';
import { measureJson } from '../memory/measure-json.ts';
import { queueBody } from './large-body-queue.ts';

interface JsonLimits {
  /** How many nesting levels a body has around the input, such as the list of a tRPC batch. */
  levelsAround?: number;
  maxValues?: number;
}

/** Makes the routes of a Fastify scope accept only JSON. `read` parses the text of a body, or throws. */
export function parseJsonBodies(
  scope: FastifyInstance,
  read: (text: string) => unknown,
  limitsOf: (request: FastifyRequest) => JsonLimits = () => ({}),
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) =>
      queueBody(request, body.length, (tooLate) => {
        if (tooLate) return done(tooLate);
        let value: unknown;
        try {
          value = readText(decode(body), read, limitsOf(request));
        } catch (error) {
          return done(error as Error); // The cast is safe, because the parser throws only errors.
        }
        // Checking a large body may take as long as parsing, so other requests continue between the two.
        if (isLarge(body.length)) setImmediate(done, null, value);
        else done(null, value);
      }),
  );
}

export function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

export function bodyNotJson(why: string, cause?: unknown): HttpError {
  return new HttpError('bodyNotJson', `the body is not JSON (${why}): send one JSON value`, {
    cause,
  });
}

export function readText(
  text: string,
  read: (text: string) => unknown,
  limits: JsonLimits,
): unknown {
  if (text.length > maxLevels) checkJsonSize(text, limits);
  try {
    return read(text);
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw bodyNotJson(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw bodyNotJson('it is not UTF-8');
  return body.toString();
}

/** The most levels of nesting in an input. RFC 8259 §9 allows a limit of nesting. */
const maxLevels = 500;

/**
 * The most values in a body, because all other requests wait while the server parses a body. The limit allows
 * a tRPC request with ten batches of 1,000 plants.
 */
const maxValues = 64_000;

/** Rejects a text with too many values or levels before the server parses it. */
function checkJsonSize(text: string, { levelsAround = 0, ...surface }: JsonLimits): void {
  const { values, levels } = measureJson(text);
  if (levels > maxLevels + levelsAround) {
    throw bodyNotJson(`nested more than ${maxLevels} levels deep`);
  }
  const most = Math.min(maxValues, surface.maxValues ?? maxValues);
  if (values <= most) return;
  const advice = 'send fewer plants or other values in one call';
  throw new HttpError('bodyTooLarge', `the body has over ${most} values: ${advice}`);
}
