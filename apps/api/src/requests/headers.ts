import { METHODS } from 'node:http';
import { PlantStoreError } from '@plant-store/core';
import { shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { pathOf } from '../observability/log.ts';

/** A hook that rejects an invalid `Host` or `Expect`. Node's own responses to these errors have no body. */
export const checkHeaders: onRequestHookHandler = ({ headers, raw }, _reply, done) => {
  const { host, expect } = headers;
  const isValid = host === undefined ? raw.httpVersion === '1.0' : hostSyntax.test(host);
  if (!isValid) throw malformed(`Host is ${shorten(host ?? '') || 'missing'}: send <name>:<port>`);
  if (expect === undefined || /^100-continue$/i.test(expect)) return done();
  throw new PlantStoreError('expectationFailed', 'send `Expect: 100-continue`, or no `Expect`');
};

const hostSyntax = /^(?:(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?)?$/i;

/** A hook that responds 404 before Fastify can respond 415 to a malformed `Content-Type`. */
export const rejectUnknownPaths: onRequestHookHandler = (request, _reply, done) =>
  done(request.is404 ? pathUnknown(request) : undefined);

export function pathUnknown({ method, url }: FastifyRequest): PlantStoreError {
  // HEAD and GET have the same `Content-Length` (RFC 9110 §9.3.2), so the message says GET for both.
  const sent = method === 'HEAD' ? 'GET' : method;
  const message = `there is no ${sent} ${pathOf(url)}: the API reference (docs) lists the paths`;
  return new PlantStoreError('pathUnknown', message);
}

/**
 * Adds to each path a route that responds 405 with `Allow` to all other methods. `/plants/count` also matches
 * the route `/plants/:id`, but Fastify prefers the route without a parameter.
 *
 * @returns a function to call after all other routes are added
 */
export function rejectOtherMethods(server: FastifyInstance): () => void {
  // Fastify supports only the usual methods, and would respond 404 to a method such as PROPFIND.
  for (const method of METHODS) {
    if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
  }
  const methodsOf = new Map<string, string[]>();
  server.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), method].flat());
  });
  return () => {
    for (const [url, offered] of [...methodsOf]) {
      const allow = offered.toSorted().join(', ');
      const reject: onRequestHookHandler = (request, reply) => {
        reply.header('allow', allow);
        const message = `${pathOf(request.url)} takes only ${allow}`;
        throw new PlantStoreError('methodNotAllowed', message);
      };
      const method = server.supportedMethods.filter((each) => !offered.includes(each));
      server.route({ url, method, onRequest: reject, handler: async () => {} });
    }
  };
}

/** Throws when the body has another charset than UTF-8, or a content coding. Fastify ignores both. */
export function checkBodyHeaders({ headers }: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  const charsets = type.includes(';') ? type.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi) : [];
  for (const [, charset = ''] of charsets) {
    if (/^utf-?8$/i.test(charset)) continue;
    const found = shorten(charset) || 'empty';
    throw unsupported(`the charset is ${found}: send JSON in UTF-8, with charset=utf-8`);
  }
  if (/^identity$/i.test(coding)) return;
  throw unsupported(`Content-Encoding is ${shorten(coding)}: send the body without it`);
}

const unsupported = (message: string) => new PlantStoreError('unsupportedMediaType', message);

/** Makes the error for a path that is not percent-encoded UTF-8, for which Fastify runs no hooks. */
export function badPath({ url }: FastifyRequest): PlantStoreError {
  return malformed(`the path ${pathOf(url)} is not percent-encoded UTF-8`);
}

/** Throws when a query is not percent-encoded UTF-8, because Fastify would accept the query. */
export function checkQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  try {
    decodeURIComponent(url.slice(start));
  } catch {
    throw malformed('the query is not percent-encoded UTF-8');
  }
}

const malformed = (message: string) => new PlantStoreError('malformedRequest', message);
