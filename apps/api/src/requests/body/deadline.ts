import type { Deadline } from '@plant-store/core';
import { deadlineIn, defaultTimeout } from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';

/**
 * Sets the deadline of a request that has arrived completely, and returns it. Later calls return the same
 * deadline. A small body arrives while the request waits for its token and its turn, so the deadline
 * includes that waiting time.
 */
export function startDeadline(request: FastifyRequest): Deadline {
  request.deadline ??= deadlineIn(defaultTimeout - request.waitTime);
  return request.deadline;
}
