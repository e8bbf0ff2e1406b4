import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Makes a hook that limits how many requests one address may send in a minute. */
export async function limitRate(
  scope: FastifyInstance,
  max: number,
): Promise<onRequestHookHandler> {
  await scope.register(rateLimit, {
    max,
    global: false,
    errorResponseBuilder: (_request, { after }) =>
      new HttpError('rateLimited', `over ${max} requests a minute: try again in ${after}`),
  });
  return scope.rateLimit();
}
