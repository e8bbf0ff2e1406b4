import { shorten } from '@plant-store/schemas';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { checkTarget, decodedPath } from '../connections/request-target.ts';
import { HttpError } from '../errors/http-error.ts';

/**
 * Makes a hook that rejects a malformed target or an unknown route, before the server reads the body. For an
 * unknown method, the hook sends 405 and `Allow`. Register the hook before the routes.
 */
export function rejectUnknownRoute(
  server: FastifyInstance,
  hint = 'the API reference (docs) lists the paths of this service',
): onRequestHookHandler {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  server.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) route.methods.add(each);
    routes.set(url, route);
  });

  return (request, reply, done) => {
    const { url, originalUrl, is404 } = request;
    checkTarget(url, originalUrl);
    const mayBeEmpty = url.endsWith('/') || url.includes('/?');
    if (!is404 && !mayBeEmpty) return done();
    const path = decodedPath(url) ?? url;
    // With an empty id, Fastify's router finds `/plants/:id` for the path `/plants/`.
    if (!is404 && (!path.endsWith('/') || routes.has(path))) return done();
    // /plants/count also matches the route /plants/:id, so the path allows the methods of both routes.
    const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path));
    if (matching.length === 0) {
      throw new HttpError('pathUnknown', `there is no path ${shorten(path)}: ${hint}`);
    }

    const methods = new Set(matching.flatMap((route) => [...route.methods]));
    const allow = [...methods].toSorted().join(', ');
    reply.header('allow', allow);
    // HEAD and GET have the same `Content-Length` (RFC 9110 §9.3.2), so the message says GET for both.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    throw new HttpError('methodNotAllowed', `${shorten(path)} takes ${allow}, not ${method}`);
  };
}

/** A hook that responds to `OPTIONS *`, which asks about the server as a whole (RFC 9110 §9.3.7). */
export const respondToServerOptions: onRequestHookHandler = ({ method, url }, reply, done) => {
  if (method !== 'OPTIONS' || url !== '*') return done();
  reply.code(204).header('allow', 'DELETE, GET, HEAD, OPTIONS, POST').send();
};

/** Returns an expression for the paths of a route. The last part of a matching path is never empty. */
function patternOf(url: string): RegExp {
  const pattern = url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*[^/]');
  return new RegExp(`^${pattern}$`);
}
