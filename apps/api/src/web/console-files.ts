import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

/** A file of the built console, as a reply has it. */
export interface ConsoleFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * Reads the built console into memory: files by their paths, the page itself as `/`. The map is empty
 * when the directory has no console. A later build does not change what a running server serves.
 */
export async function readConsoleFiles(directory: string): Promise<ConsoleFiles> {
  if (!existsSync(join(directory, 'index.html'))) return new Map();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(names.map(({ parentPath, name }) => readEntry(directory, parentPath, name))),
  );
}

async function readEntry(directory: string, parentPath: string, name: string) {
  const file = join(parentPath, name);
  const path = file.slice(directory.length).replaceAll('\\', '/');
  const isPage = path === '/index.html';
  const body = await readFile(file);
  const headers = {
    'content-type': types[extname(name)] ?? 'application/octet-stream',
    ...commonHeaders,
    ...(isPage ? pageHeaders : fileHeaders),
  };
  const gzipped = await promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION });
  return [isPage ? '/' : path, { headers, body, gzipped }] as const;
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
};

/** The name of a file has a hash of its content. */
const fileHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
