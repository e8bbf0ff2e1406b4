import { fileURLToPath } from 'node:url';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { type ConsoleFile, readConsoleFiles } from './console-files.ts';

/** Where `apps/web` builds the console. */
export const builtConsole = fileURLToPath(new URL('../../../web/dist', import.meta.url));

/**
 * Makes a hook that serves the console: its page at `/` to a client that asks for HTML, and the files
 * of the page. All other requests go on, and so does every request when the console is not built.
 *
 * It is a hook and not a route, so that other requests for `/` get the error of an unknown path.
 */
export function serveConsole(directory = builtConsole): onRequestHookHandler {
  let files: Map<string, ConsoleFile> | undefined;

  return (request, reply, done) => {
    if (!request.is404 || !methods.has(request.method)) return done();
    const [path = ''] = request.url.split('?', 1);
    const isForConsole = path === '/' ? asksForHtml(request) : path.startsWith('/console/');
    if (!isForConsole) return done();

    files ??= readConsoleFiles(directory);
    const file = files?.get(path);
    if (!file) return done();
    reply.headers(file.headers);
    if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
      reply.header('content-encoding', 'gzip').send(file.gzipped);
    } else {
      reply.send(file.body);
    }
  };
}

const methods = new Set(['GET', 'HEAD']);

/** A browser that opens an address names the type; any type at all, as curl asks for, is not enough. */
function asksForHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}
