import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the built console, as a reply has it. */
export interface ConsoleFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

/**
 * Reads the built console into memory: files by their paths, the page itself as `/`. Undefined when
 * the directory has no console. A later build does not change what a running server serves.
 */
export function readConsoleFiles(directory: string): Map<string, ConsoleFile> | undefined {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    names.map((name) => {
      const path = name.slice(directory.length).replaceAll('\\', '/');
      const isPage = path === '/index.html';
      const body = readFileSync(name);
      const headers = {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        ...commonHeaders,
        ...(isPage ? pageHeaders : fileHeaders),
      };
      return [isPage ? '/' : path, { headers, body, gzipped: gzipSync(body, { level: 9 }) }];
    }),
  );
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const commonHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const pageHeaders = {
  // Each build has other file names, so an old page would look for files that are gone.
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
  vary: 'accept, accept-encoding',
};

/** The name of a file has a hash of its content. */
const fileHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
};
