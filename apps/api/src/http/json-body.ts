import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '@plant-store/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Makes JSON, read by `read` from its text, the only body that the routes of this scope take. */
export function acceptJson(scope: FastifyInstance, read: (text: string) => unknown): void {
  scope.addHook('onRequest', (request, reply, done) => {
    if (!bodiless.has(request.method)) refuseUnread(request, scope.initialConfig.bodyLimit);
    if ('awaitsContinue' in request.raw) reply.raw.writeContinue();
    done();
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer, done) => done(null, read(decode(body))),
  );
}

const bodiless = new Set(['DELETE', 'GET', 'HEAD']);

/** Whether a body is a JSON object. */
export function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/** A body that cannot be read as JSON. */
export function bodyNotJson(why: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('bodyNotJson', `the body is not JSON: ${why}`, { cause });
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw bodyNotJson('it is not UTF-8');
  return body.toString();
}

/** Refuses what the headers tell of the body already. */
function refuseUnread({ headers }: FastifyRequest, bodyLimit = Number.POSITIVE_INFINITY): void {
  if (Number(headers['content-length']) > bodyLimit) throw bodyTooLarge(bodyLimit);
  const type = headers['content-type'] ?? '';
  const coding = headers['content-encoding'] || 'identity';
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  if (!/^chunked$/i.test(transfer)) throw unsupported(`Transfer-Encoding is ${transfer}`);
  if (type === 'application/json' && coding === 'identity') return;

  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw unsupported(`Content-Type is ${type || 'missing'}: send application/json`);
  }
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi)) {
    if (!/^utf-?8$/i.test(charset)) throw unsupported(`the charset is ${charset}: send UTF-8`);
  }
  if (!/^identity$/i.test(coding)) {
    throw unsupported(`Content-Encoding is ${coding}: send the body as it is`);
  }
}

function bodyTooLarge(limit: number): PlantStoreError {
  return new PlantStoreError('bodyTooLarge', `the body is over ${limit} bytes`);
}

function unsupported(message: string): PlantStoreError {
  return new PlantStoreError('unsupportedMediaType', message);
}
