import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { outsideFile } from '../repository.ts';
import { loadOnce } from '../responses/load-once.ts';
import { addVary, weightOf } from '../responses/negotiation.ts';
import { readConsoleFiles } from './console-files.ts';
import { sendFile } from './static-file.ts';

const builtConsole = outsideFile('console');

export function hasConsole(directory = builtConsole): boolean {
  return existsSync(join(directory, 'index.html'));
}

/**
 * Makes a hook that serves the console's files. At `/`, a client that asks for HTML gets the console. There
 * is no route for `/`, so that other requests for `/` get the error of an unknown path.
 */
export function serveConsole(directory = builtConsole): onRequestHookHandler {
  const readFiles = loadOnce(() => readConsoleFiles(directory));
  let isBuilt = false;

  return (request, reply, done) => {
    if (!request.is404 || !methods.has(request.method)) return done();
    const [path = ''] = request.url.split('?', 1);
    // For `/`, `Accept` decides between the console and an error, so both responses have `Vary`.
    if (path === '/') addVary(reply, 'accept');
    const isForConsole = path === '/' ? asksForHtml(request) : path.startsWith('/console/');
    isBuilt ||= isForConsole && hasConsole(directory);
    if (!isForConsole || !isBuilt) return done();
    readFiles().then((files) => {
      const file = files.get(path);
      if (file) sendFile(request, reply, file);
      else done();
    }, done);
  };
}

const methods = new Set(['GET', 'HEAD']);

// Browsers name `text/html` in `Accept`. The value `*/*`, which curl sends, is not enough.
function asksForHtml({ headers }: FastifyRequest): boolean {
  return weightOf('text/html', headers.accept) > 0;
}
