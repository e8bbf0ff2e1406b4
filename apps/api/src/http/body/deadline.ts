import type { Deadline } from '@plant-store/core';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The time by which the response must be sent; set by `startDeadline`. */
    deadline?: Deadline;
    /** Milliseconds from its arrival until its turn, before its body was read; set by `takeTurn`. */
    waitTime: number;
  }
}

/** The most milliseconds from the arrival of a request to its response. */
const responseTimeout = 5_000;

/**
 * Sets the deadline of a request that has arrived completely, and returns it. Later calls return
 * the same deadline. A small body arrives while the request waits for its token and its turn,
 * so that time counts, too.
 */
export function startDeadline(request: FastifyRequest): Deadline {
  request.deadline ??= performance.now() + responseTimeout - request.waitTime;
  return request.deadline;
}
