import type { IncomingMessage } from 'node:http';
import { shorten } from '@plant-store/schemas';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { closeAfter } from '../connections/client-connections.ts';
import { transferEncodingError } from '../connections/node-errors.ts';
import { malformed } from '../connections/request-target.ts';
import { bodyLimit, bodyTooLarge, HttpError } from '../errors/http-error.ts';
import { checkHost } from './host.ts';

/** A hook that checks the HTTP version of a request, and the headers that every request may have. */
export const checkRequestHeaders: onRequestHookHandler = ({ raw, originalUrl }, reply, done) => {
  const { headers, rawHeaders, httpVersion } = raw;
  if (raw.httpVersionMajor !== 1) {
    closeAfter(reply.raw);
    throw malformed(`HTTP/${httpVersion} is not supported: send HTTP/1.1`);
  }
  for (const name of singleHeaders) {
    if (count(rawHeaders, name.toLowerCase()) > 1) {
      throw malformed(`there is more than one ${name} header: send one`);
    }
  }
  checkHost(raw, originalUrl);
  if (headers['transfer-encoding'] !== undefined) checkTransferEncoding(raw, reply);
  if ('expectsUnknown' in raw) {
    throw new HttpError(
      'expectationFailed',
      'only Expect: 100-continue is supported: send no other value',
    );
  }
  done();
};

/** A hook that checks headers such as `Content-Type` before the server reads the body. */
export const checkBodyHeaders: onRequestHookHandler = (request, reply, done) => {
  if (!methodsWithoutBody.has(request.method)) checkBody(request, reply);
  done();
};

/** A hook that tells a client with `Expect: 100-continue` to send its body. */
export const sendContinue: onRequestHookHandler = (request, reply, done) => {
  if ('awaitsContinue' in request.raw) reply.raw.writeContinue();
  done();
};

const singleHeaders = ['Host', 'Authorization', 'Content-Type'];

function checkTransferEncoding(request: IncomingMessage, reply: FastifyReply): void {
  const coding = request.headers['transfer-encoding'] ?? '';
  if (request.httpVersion === '1.0') {
    // A proxy of HTTP/1.0 may forward `Transfer-Encoding` without reading it (RFC 9112 §6.1).
    closeAfter(reply.raw);
    throw malformed('Transfer-Encoding is not part of HTTP/1.0: send HTTP/1.1');
  }
  if (!/(^|[\s,])chunked$/i.test(coding)) {
    closeAfter(reply.raw); // Without a last `chunked`, the body has no end (RFC 9112 §6.3).
    throw malformed(transferEncodingError);
  }
  if (!/^chunked$/i.test(coding)) {
    const message = `Transfer-Encoding is ${shorten(coding)}: only chunked is supported`;
    throw new HttpError('notImplemented', message); // RFC 9112 §6.1.
  }
}

/** The body of a DELETE, GET or HEAD request has no meaning (RFC 9110 §9.3). */
export const methodsWithoutBody = new Set(['DELETE', 'GET', 'HEAD']);

/** Matches a media type, and also the comma after the media type in a list. */
const mediaTypeSyntax = /^[\w.+-]+\/[\w.+-]+(\s*,)?/;

function checkBody({ headers, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  // The path may be the whole input of an operation on one resource.
  const hasPathInput = routeOptions.url?.includes(':') === true;
  const isEmpty = !Number(headers['content-length']) && !headers['transfer-encoding'];
  if (hasPathInput && isEmpty && headers['content-type'] === undefined) return;
  if (Number(headers['content-length']) > bodyLimit) throw bodyTooLarge();
  const type = headers['content-type'] ?? '';
  const coding = headers['content-encoding'] || 'identity';
  if (type === 'application/json' && coding === 'identity') return;

  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const [mediaType = type && 'no media type', list] = mediaTypeSyntax.exec(type) ?? [];
    if (list)
      throw unsupported('Content-Type has several media types: send application/json alone');
    throw unsupported(`Content-Type is ${shorten(mediaType) || 'missing'}: send application/json`);
  }
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi)) {
    if (!/^utf-?8$/i.test(charset)) {
      throw unsupported(`the charset is ${shorten(charset) || 'empty'}: send charset=utf-8`);
    }
  }
  if (!/^identity$/i.test(coding)) {
    reply.header('accept-encoding', 'identity'); // RFC 9110 §15.5.16.
    throw unsupported(`Content-Encoding is ${shorten(coding)}: send the body without it`);
  }
}

function unsupported(message: string): HttpError {
  return new HttpError('unsupportedMediaType', message);
}

/** For some headers, Node's `headers` has only one value, so this function counts the raw headers. */
function count(rawHeaders: string[], name: string): number {
  let times = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i];
    if (each?.length === name.length && each.toLowerCase() === name) times++;
  }
  return times;
}
