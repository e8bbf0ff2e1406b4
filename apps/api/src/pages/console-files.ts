import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { createStaticFile, type StaticFile } from './static-file.ts';

/** Reads all files of the console into memory, so that a later build does not change a running console. */
export async function readConsoleFiles(
  directory: string,
): Promise<ReadonlyMap<string, StaticFile>> {
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
