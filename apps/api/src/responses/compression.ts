import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { addVary, weightOf } from './negotiation.ts';

/** Compression gains nothing for responses with fewer bytes, such as the response to a create. */
const minLength = 1024;

type Compress = (text: string, done: (error: Error | null, bytes: Buffer) => void) => void;

/** Each coding has a low compression level. A low level is fast, and still shortens a list to an eighth. */
const codings = new Map<string, Compress>([
  ['br', (text, done) => brotliCompress(text, { params: brotliParams }, done)],
  ['gzip', (text, done) => gzip(text, { level: 3 }, done)],
]);

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 3 };

/** A hook that compresses all responses except streams, because compression would delay parts of a stream. */
export const compressResponse: onSendHookHandler = (request, reply, payload, done) => {
  if (typeof payload !== 'string' || payload.length < minLength) return done();
  addVary(reply, 'Accept-Encoding');
  const coding = codingOf(request, reply) ?? '';
  const compress = codings.get(coding);
  if (!compress) return done();
  reply.header('content-encoding', coding).removeHeader('content-length');
  compress(payload, done);
};

/**
 * Returns the coding that a client prefers. Returns undefined when the client accepts no coding, or when the
 * connection closes after the response. A client in Node crashes if its connection closes while its `fetch`
 * still expands a large response (nodejs/undici#5360).
 */
export function codingOf(
  { headers, server }: FastifyRequest,
  { raw }: FastifyReply,
): string | undefined {
  if (server.isClosing || !raw.shouldKeepAlive) return undefined;
  const weight = (coding: string) => weightOf(coding, headers['accept-encoding']);
  const [best = ''] = [...codings.keys()].toSorted((a, b) => weight(b) - weight(a));
  return weight(best) > 0 ? best : undefined;
}
