import type { FastifyReply } from 'fastify';

/**
 * Returns the weight that a header such as `Accept` gives to a value, from 0 to 1 (RFC 9110 §12.4.2). The
 * weight is 0 when the header does not contain the value itself: a wildcard is not enough.
 *
 * @param value the value in lower case
 */
export function weightOf(value: string, header = ''): number {
  const parameters = header
    .split(',')
    .map((part) => part.split(';').map((text) => text.trim().toLowerCase()))
    .find(([name]) => name === value);
  if (!parameters) return 0;
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return weight ? Number(weight.slice(2)) || 0 : 1;
}

/** Tells caches that a response depends on a header of the request. */
export function addVary(reply: FastifyReply, header: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '));
}
