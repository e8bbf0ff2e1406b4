import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/**
 * Makes a hook that rejects a request without a route: with 404, or with 405 and `Allow` when its
 * path has other methods. As a hook it runs before the body is read. Register it before the routes.
 *
 * @param hint tells which paths there are
 */
export function rejectUnknownRoute(
  server: FastifyInstance,
  hint = 'the API reference (docs) lists the paths of this service',
): onRequestHookHandler {
  const methodsByPath = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByPath.set(url, methods);
  });

  return (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const isBelow = (url: string) => url.endsWith('*') && path.startsWith(url.slice(0, -1));
    const [, methods] = [...methodsByPath].find(([url]) => url === path || isBelow(url)) ?? [];
    if (!methods) throw unknownPath(path, hint);

    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    // HEAD gets the length of the reply to GET (RFC 9110 §9.3.2), so its message is the same.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    throw new HttpError('methodNotAllowed', `${path} takes ${allow}, not ${method}`);
  };
}

/** A hook that answers `OPTIONS *`, which asks about the server as a whole (RFC 9110 §9.3.7). */
export const answerServerOptions: onRequestHookHandler = ({ method, url }, reply, done) => {
  if (method !== 'OPTIONS' || url !== '*') return done();
  reply.code(204).header('allow', 'GET, HEAD, POST, OPTIONS').send();
};

function unknownPath(path: string, hint: string): HttpError {
  if (path.startsWith('/')) {
    return new HttpError('pathUnknown', `there is no path ${path}: ${hint}`);
  }
  // It is not one of the forms for this method (RFC 9112 §3.2).
  return new HttpError('malformedRequest', `the request target ${path} does not start with /`);
}

function pathOf(request: FastifyRequest): string {
  const [path = '/'] = request.url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
