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
  hint = 'see /docs for the paths of this service',
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
    if (!methods) throw new HttpError('pathUnknown', `there is no path ${path}: ${hint}`);

    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError('methodNotAllowed', `${path} takes ${allow}, not ${request.method}`);
  };
}

function pathOf(request: FastifyRequest): string {
  const [path = '/'] = request.url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
