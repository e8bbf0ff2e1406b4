import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { outsideFile } from '../repository.ts';
import { addVary, weightOf } from '../responses/negotiation.ts';
import { createStaticFile, loadOnce, type StaticFile, sendFile } from './static-file.ts';

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

/** Reads all files of the console into memory, so that a later build does not change a running console. */
async function readConsoleFiles(directory: string): Promise<ReadonlyMap<string, StaticFile>> {
  const names = await readdir(directory, { recursive: true });
  // A folder's name has no extension. In an archive of Yarn, the entries do not have their folder's path.
  const files = names.filter((name) => extname(name) !== '');
  return new Map(
    await Promise.all(
      files.map(async (name) => {
        const path = `/${name.replaceAll('\\', '/')}`;
        const isPage = path === '/index.html';
        const headers = {
          'content-type': types[extname(name)] ?? 'application/octet-stream',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          ...(isPage ? pageHeaders : fileHeaders),
        };
        const content = await createStaticFile(await readFile(join(directory, name)), headers);
        return [isPage ? '/' : path, content] as const;
      }),
    ),
  );
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const pageHeaders = {
  // Each build has different file names, so an old HTML page would request files that no longer exist.
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
};

/** A file's name contains a hash of its content. */
const fileHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
