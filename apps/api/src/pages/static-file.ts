import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codingOf } from '../responses/compression.ts';
import { addVary } from '../responses/negotiation.ts';

/** A file in memory. All its responses send the same buffer, so that slow clients do not fill the memory. */
export type StaticFile = Awaited<ReturnType<typeof createStaticFile>>;

export async function createStaticFile(body: Buffer, headers: Record<string, string>) {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const compressed: Record<string, Buffer> = {
    br: await promisify(brotliCompress)(body, { params: brotliParams }),
    gzip: await promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }),
  };
  return { etag, headers, body, compressed };
}

// The highest levels of Brotli take seconds for a file of a megabyte.
const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 9 };

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, headers, body, compressed }: StaticFile,
): FastifyReply {
  const coding = codingOf(request, reply);
  const bytes = coding && compressed[coding];
  reply.headers(headers).header('etag', bytes ? `W/${etag}` : etag);
  addVary(reply, 'accept-encoding');
  if (hasFile(request, etag)) return reply.code(304).send();
  if (bytes) reply.header('content-encoding', coding);
  return reply.send(bytes ?? body);
}

/** Whether the client has this file already (RFC 9110 §13.1.2). */
function hasFile({ headers }: FastifyRequest, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags?.some((tag) => tag === '*' || tag === etag) ?? false;
}

/**
 * Makes a function that loads a value when it is first called. After an error, which may be a temporary lack
 * of file descriptors, the next call loads the value again.
 */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
