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
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  server.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) route.methods.add(each);
    routes.set(url, route);
  });

  return (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const route = [...routes.values()].find(({ pattern }) => pattern.test(path));
    if (!route) throw new HttpError('pathUnknown', `there is no path ${path}: ${hint}`);

    const allow = [...route.methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError('methodNotAllowed', `${path} takes ${allow}, not ${request.method}`);
  };
}

/** Matches the paths of a route: `/plants/:id`, `/docs/*`. */
function patternOf(url: string): RegExp {
  const pattern = url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*');
  return new RegExp(`^${pattern}$`);
}

function pathOf(request: FastifyRequest): string {
  const [path = '/'] = request.url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
