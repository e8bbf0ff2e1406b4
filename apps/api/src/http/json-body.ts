import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Makes JSON the only body of the routes in a scope; `read` turns its text into the body. */
export function parseJsonBodies(scope: FastifyInstance, read: (text: string) => unknown): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body: Buffer, done) => done(null, read(decode(body))),
  );
}

/** Whether a body is a JSON object. */
export function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/** The error for a body that is not JSON. */
export function bodyNotJson(why: string, cause?: unknown): HttpError {
  return new HttpError('bodyNotJson', `the body is not JSON: ${why}`, { cause });
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw bodyNotJson('it is not UTF-8');
  return body.toString();
}
