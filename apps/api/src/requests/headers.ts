import { PlantStoreError } from '@plant-store/core';
import { shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';

/** A hook that requires a valid `Host` (RFC 9112 §3.2). Node's own response to a request without it has no body. */
export const checkHost: onRequestHookHandler = ({ headers: { host }, raw }, _reply, done) => {
  if (host !== lastHost) {
    if (host === undefined && raw.httpVersion === '1.0') return done();
    if (host === undefined || !hostSyntax.test(host)) {
      throw malformed(`Host is ${shorten(host ?? '') || 'missing'}: send <name>:<port>`);
    }
    lastHost = host;
  }
  done();
};

/** The latest valid `Host`. Most requests have the same `Host`, which the server checks only once. */
let lastHost = '';

const hostSyntax = /^(?:(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?)?$/i;

/** Whether the server reads the body of a method. Other bodies have no meaning (RFC 9110 §9.3). */
export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** A hook that rejects a charset or a coding of the body, which Fastify ignores. Fastify checks the media type. */
export const checkBodyHeaders: onRequestHookHandler = ({ method, headers }, reply, done) => {
  const { 'content-type': type = '', 'content-encoding': coding } = headers;
  const { 'transfer-encoding': transfer } = headers;
  const isUsual = type === 'application/json' && coding === undefined && transfer === undefined;
  if (isUsual || !hasBody(method)) return done();
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi)) {
    if (!/^utf-?8$/i.test(charset)) {
      const found = shorten(charset) || 'empty';
      throw unsupported(`the charset is ${found}: send JSON in UTF-8, with charset=utf-8`);
    }
  }
  if (coding && !/^identity$/i.test(coding)) {
    reply.header('accept-encoding', 'identity'); // RFC 9110 §15.5.16.
    throw unsupported(`Content-Encoding is ${shorten(coding)}: send the body without it`);
  }
  if (transfer && !/^chunked$/i.test(transfer)) {
    const message = `Transfer-Encoding is ${shorten(transfer)}: send chunked alone`;
    throw new PlantStoreError('notImplemented', message); // RFC 9112 §6.1.
  }
  done();
};

const unsupported = (message: string) => new PlantStoreError('unsupportedMediaType', message);

/** Makes the error for a path that is not percent-encoded UTF-8, for which Fastify runs no hooks. */
export function badPath(request: FastifyRequest): PlantStoreError {
  return malformed(`the path ${shorten(pathOf(request))} is not percent-encoded UTF-8`);
}

/** Throws when a query is not percent-encoded UTF-8, because Fastify would accept the query. */
export function checkQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch {
      const [name = ''] = parameter.split('=', 1);
      throw malformed(`the parameter ${shorten(name)} is not percent-encoded UTF-8`);
    }
  }
}

const malformed = (message: string) => new PlantStoreError('malformedRequest', message);

/**
 * Makes Fastify respond 404 to an unknown path, and 405 with `Allow` to a method that a path does not offer.
 * Returns a hook for routes with a parameter, which also match other paths: `/plants/:id` matches
 * `/plants/count` and `/plants/`.
 */
export function rejectUnknownPaths(server: FastifyInstance): onRequestHookHandler {
  const methodsOf = new Map<string, string[]>();
  server.addHook('onRoute', ({ url, method }) => {
    if (!/[:*]/.test(url)) methodsOf.set(url, [...(methodsOf.get(url) ?? []), method].flat());
  });
  server.removeAllContentTypeParsers(); // An unknown path reads no body.
  // The body of a DELETE has no meaning (RFC 9110 §9.3.5). No path takes a QUERY.
  for (const method of ['DELETE', 'QUERY']) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  server.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const offered = methodsOf.get(path) ?? methods.filter((method) => hasRoute(method, path));
    // A page may itself say that its path is unknown to this client.
    const isUnknown = offered.length === 0 || offered.includes(request.method);
    if (isUnknown) throw pathUnknown(path);
    throw methodNotAllowed(request, reply, offered);
  });

  return (request, reply, done) => {
    const path = pathOf(request);
    const offered = methodsOf.get(path);
    if (offered) throw methodNotAllowed(request, reply, offered);
    if (path.endsWith('/')) throw pathUnknown(path);
    done();
  };

  function hasRoute(method: string, url: string): boolean {
    return !url.endsWith('/') && server.findRoute({ method, url }) !== null;
  }
}

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];

function pathOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1);
  return path;
}

function pathUnknown(path: string): PlantStoreError {
  const hint = 'the API reference (docs) lists the paths of this service';
  return new PlantStoreError('pathUnknown', `there is no path ${shorten(path)}: ${hint}`);
}

function methodNotAllowed(
  request: FastifyRequest,
  reply: FastifyReply,
  offered: readonly string[],
): PlantStoreError {
  const allow = [...new Set(offered)].toSorted().join(', ');
  reply.header('allow', allow);
  // HEAD and GET have the same `Content-Length` (RFC 9110 §9.3.2), so the message says GET for both.
  const sent = request.method === 'HEAD' ? 'GET' : request.method;
  const message = `${shorten(pathOf(request))} takes ${allow}, not ${sent}`;
  return new PlantStoreError('methodNotAllowed', message);
}

/**
 * Returns the weight that a header such as `Accept` gives to a value, from 0 to 1 (RFC 9110 §12.4.2). The
 * weight is 0 when the header does not contain the value itself: a wildcard is not enough.
 *
 * @param value the value in lower case
 */
export function weightOf(value: string, header = ''): number {
  const parameters = header
    .split(',')
    .map((part) => part.split(';').map((text) => text.trim().toLowerCase()))
    .find(([name]) => name === value);
  if (!parameters) return 0;
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return weight ? Number(weight.slice(2)) || 0 : 1;
}
