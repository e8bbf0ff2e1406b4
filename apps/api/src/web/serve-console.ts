import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { addVary, weightOf } from '../http/negotiation.ts';
import { type ConsoleFile, type ConsoleFiles, readConsoleFiles } from './console-files.ts';

/** Where `apps/web` builds the console. */
export const builtConsole = fileURLToPath(new URL('../../../web/dist', import.meta.url));

/**
 * Makes a hook that serves the console: its page at `/` to a client that asks for HTML, and the files
 * of the page. All other requests go on, and so does every request when the console is not built.
 *
 * It is a hook and not a route, so that other requests for `/` get the error of an unknown path.
 */
export function serveConsole(directory = builtConsole): onRequestHookHandler {
  let files: Promise<ConsoleFiles> | undefined;

  const findFile = async (path: string): Promise<ConsoleFile | undefined> => {
    files ??= readConsoleFiles(directory);
    try {
      const found = await files;
      if (found.size === 0) files = undefined; // It may be built later.
      return found.get(path);
    } catch (error) {
      files = undefined; // A build may have replaced the files while they were read.
      throw error;
    }
  };
  return (request, reply, done) => {
    if (!request.is404 || !methods.has(request.method)) return done();
    const [path = ''] = request.url.split('?', 1);
    const isForConsole = path === '/' ? asksForHtml(request) : path.startsWith('/console/');
    if (path === '/') addVary(reply, 'accept'); // Also where there is no page.
    if (!isForConsole) return done();
    findFile(path).then((file) => (file ? sendFile(request, reply, file) : done()), done);
  };
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): void {
  reply.headers(file.headers);
  addVary(reply, 'accept-encoding');
  if (weightOf('gzip', request.headers['accept-encoding']) > 0) {
    reply.header('content-encoding', 'gzip').send(file.gzipped);
  } else {
    reply.send(file.body);
  }
}

const methods = new Set(['GET', 'HEAD']);

// Browsers name `text/html` in `Accept`. The `*/*` of curl is not enough.
function asksForHtml({ headers }: FastifyRequest): boolean {
  return weightOf('text/html', headers.accept) > 0;
}
