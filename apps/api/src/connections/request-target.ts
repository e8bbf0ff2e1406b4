import { shorten } from '@plant-store/schemas';
import { HttpError } from '../errors/http-error.ts';

/**
 * Returns the URL for Fastify's router. A server must accept the absolute form of a request target (RFC 9112
 * §3.2.2). Fastify's router runs no hooks for a path with invalid percent-encoding, so this function turns
 * each `%` of such a path into `%25`.
 */
export function routerUrl({ url: target = '/' }: { url?: string | undefined }): string {
  const url = target.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
  return decodedPath(url) === undefined ? url.replaceAll('%', '%25') : url;
}

/** Throws when a request target is malformed. `target` is the request target as it was sent. */
export function checkTarget(url: string, target: string): void {
  if (!url.startsWith('/')) {
    // Only OPTIONS allows the target `*`, and only CONNECT allows a host and a port (RFC 9112 §3.2).
    throw malformed(`the request target ${shorten(url)} does not start with /`);
  }
  if (url.includes('#')) {
    throw malformed(`the request target ${shorten(url)} contains #: send %23 (RFC 9112 §3.2)`);
  }
  if (decodedPath(target) === undefined) {
    const [path = ''] = target.split('?', 1);
    throw malformed(`the path ${shorten(path)} is not percent-encoded UTF-8`);
  }
}

/**
 * Decodes the path of a URL as the router does, so that `%2F` stays a part of a segment. Returns undefined
 * when the path is not percent-encoded UTF-8.
 */
export function decodedPath(url: string): string | undefined {
  const [path = '/'] = url.split('?', 1);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

export function malformed(message: string): HttpError {
  return new HttpError('malformedRequest', message);
}
