import type { Deadline, Principal } from '@plant-store/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpError } from './errors/http-error.ts';
import type { LogError } from './observability/error-log.ts';

// What the hooks of a request tell each other, and what the server tells them.
declare module 'fastify' {
  interface FastifyInstance {
    logError: LogError;
    /** Counts a request that is about to wait for changes; made by `limitWaiting`. */
    startWaiting(request: FastifyRequest, reply: FastifyReply): void;
    /** Milliseconds for which a closing server still takes requests. */
    drainDelay: number;
    /** Whether the server was told to close. */
    isClosing: boolean;
  }
  interface FastifyRequest {
    /** Whether its client has disconnected, or has ended its side of the connection. */
    readonly isGone: boolean;
    /** The errors that the client got: one, or several for a batch. */
    errors?: HttpError[];
    /** The bytes of its body that count towards the memory budget. */
    bodyBytes: number;
    /** The bytes of its pages, and then of its response, that count towards the memory budget. */
    pageBytes: number;
    /** See `Caller` of core. */
    reserve(bytes: number): (bytes: number) => void;
    /** The principal that sent the request; set by `requireToken`. */
    principal?: Principal;
    /**
     * Checks its token again: it may have expired since, or somebody may have revoked it. Many requests
     * that wait for changes continue at the same time, so they take turns. Set by `requireToken`.
     *
     * @throws HttpError `tokenInvalid`; the error of the look-up
     */
    checkTokenAgain(): Promise<void>;
    /** Milliseconds from its arrival until its turn, before its body was read; set by `takeTurn`. */
    waitTime: number;
    /** The time by which the response must be sent; set by `startDeadline`. */
    deadline?: Deadline;
    /** Milliseconds from its arrival until it began to wait for changes. Undefined when it does not. */
    waitsFrom: number | undefined;
  }
}

/** Gives the requests of a server their state, before hooks set it. */
export function decorateRequests(server: FastifyInstance): void {
  server.decorateRequest('isGone', { getter: isGone });
  server.decorateRequest('bodyBytes', 0);
  server.decorateRequest('pageBytes', 0);
  server.decorateRequest('principal', undefined);
  server.decorateRequest('checkTokenAgain');
  server.decorateRequest('waitTime', 0);
  server.decorateRequest('deadline', undefined);
  server.decorateRequest('waitsFrom', undefined);
}

/** Node closes a connection whose client has ended its side. */
function isGone(this: FastifyRequest): boolean {
  const { destroyed, readableEnded } = this.raw.socket;
  return destroyed || readableEnded;
}
