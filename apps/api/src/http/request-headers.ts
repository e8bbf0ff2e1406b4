import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { bodyLimit } from '../node/node-server-options.ts';

/** A hook that rejects a missing or repeated `Host`, and a repeated `Authorization`. */
export const checkRequestHeaders: onRequestHookHandler = ({ raw }, _reply, done) => {
  const hosts = count(raw.rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
    throw malformed(`there are ${hosts} Host headers: send one (RFC 9112 §3.2)`);
  }
  if (count(raw.rawHeaders, 'authorization') > 1) {
    throw malformed('there is more than one Authorization header: send one');
  }
  done();
};

/** A hook that rejects a body by its headers, before any of it is read. */
export const checkBodyHeaders: onRequestHookHandler = (request, _reply, done) => {
  if (!methodsWithoutBody.has(request.method)) checkBody(request);
  done();
};

/** A hook that tells a client with `Expect: 100-continue` to send its body. */
export const sendContinue: onRequestHookHandler = (request, reply, done) => {
  if ('awaitsContinue' in request.raw) reply.raw.writeContinue();
  done();
};

/** A body of these methods has no meaning (RFC 9110 §9.3) and is ignored. */
export const methodsWithoutBody = new Set(['DELETE', 'GET', 'HEAD']);

function checkBody({ headers }: FastifyRequest): void {
  if (Number(headers['content-length']) > bodyLimit) {
    throw new HttpError('bodyTooLarge', `the body is over ${bodyLimit} bytes`);
  }
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
    throw unsupported(`Content-Encoding is ${coding}: send the body without it`);
  }
}

function malformed(message: string): HttpError {
  return new HttpError('malformedRequest', message);
}

function unsupported(message: string): HttpError {
  return new HttpError('unsupportedMediaType', message);
}

/** How often a header was sent: Node keeps only the first of these and ignores the others. */
function count(rawHeaders: string[], name: string): number {
  let times = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i];
    if (each?.length === name.length && each.toLowerCase() === name) times++;
  }
  return times;
}
