import type { Span } from '@opentelemetry/api';
import type { Deadline, PlantStore, Principal } from '@plant-store/core';
import { deadlineIn, defaultTimeout } from '@plant-store/core/internal';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpError } from '../errors/http-error.ts';
import type { LogError } from '../observability/request-log.ts';
import type { MemoryLimits } from './memory/limit-memory.ts';

// These properties pass state between the hooks of a request, and from the server to the hooks.
declare module 'fastify' {
  interface FastifyInstance {
    store: PlantStore;
    memory: MemoryLimits;
    logError: LogError;
    /** Counts a request before it waits for changes. `limitWaiting` makes this function. */
    startWaiting(request: FastifyRequest, reply: FastifyReply): void;
    /** Milliseconds for which a closing server accepts requests. */
    drainDelay: number;
    isClosing: boolean;
  }
  interface FastifyRequest {
    /** Whether the client has disconnected, or has ended its side of the connection. */
    readonly isGone: boolean;
    /** The errors that the client got. A batch may get several errors. */
    errors?: HttpError[];
    /** The bytes of the request's body that count towards the memory budget. */
    bodyBytes: number;
    /** The bytes of the pages or of the response that count towards the memory budget. */
    pageBytes: number;
    /** Milliseconds for which the database has worked for this request. The store adds to this number. */
    databaseTime: number;
    reserve(bytes: number): (bytes: number) => void;
    /** `requireToken` sets this property. */
    principal?: Principal;
    /** Checks the token again. Throws `tokenInvalid` or the look-up's error. Set by `requireToken`. */
    checkTokenAgain(): Promise<void>;
    /** The request's span, when the server traces requests. */
    span?: Span | undefined;
    /** Milliseconds from the request's arrival until its turn. `takeTurn` sets this property. */
    waitTime: number;
    /** The time by which the response must be sent. `startDeadline` sets this property. */
    deadline?: Deadline;
    /** Milliseconds from the arrival of a request until the request began to wait for changes. */
    waitsFrom: number | undefined;
  }
}

export function decorateRequests(server: FastifyInstance): void {
  server.decorateRequest('isGone', { getter: isGone });
  server.decorateRequest('bodyBytes', 0);
  server.decorateRequest('pageBytes', 0);
  server.decorateRequest('databaseTime', 0);
  server.decorateRequest('span', undefined);
  server.decorateRequest('principal', undefined);
  server.decorateRequest('checkTokenAgain');
  server.decorateRequest('waitTime', 0);
  server.decorateRequest('deadline', undefined);
  server.decorateRequest('waitsFrom', undefined);
}

/** A client that has ended its side counts as gone, because Node then closes the connection. */
function isGone(this: FastifyRequest): boolean {
  const { destroyed, readableEnded } = this.raw.socket;
  return destroyed || readableEnded;
}

/**
 * Returns the deadline of a request. The first call sets the deadline, when the body has arrived. `waitTime`,
 * the wait for the token look-up and for the turn, counts too, because a small body arrives during this wait.
 */
export function startDeadline(request: FastifyRequest): Deadline {
  request.deadline ??= deadlineIn(defaultTimeout - request.waitTime);
  return request.deadline;
}
