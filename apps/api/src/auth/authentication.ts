import type { Authentication, Principal } from '@plant-store/core';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { createFairTurns } from './fair-turns.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The principal that sent the request; set by `requireToken`. */
    principal?: Principal;
  }
}

/** Finds the principal of an access token; undefined when the token is not valid. */
export type Authenticate = (token: string) => Authentication;

/**
 * Makes a hook that accepts only requests with a valid bearer token (RFC 6750). Creates with a known
 * token go first: all other requests take turns.
 */
export function requireToken(authenticate: Authenticate): onRequestAsyncHookHandler {
  const turns = createFairTurns();

  return async (request) => {
    const startedAt = performance.now();
    const authentication = authenticate(bearerToken(request));
    const principal = await authentication;
    if (authentication instanceof Promise || request.method !== 'POST') await turns.take();
    setPrincipal(request, principal);
    request.lookUpTime = performance.now() - startedAt;
  };
}

/** The characters of an access token (RFC 6750 §2.1). */
export const tokenSyntax = /^[\w.~+/-]+=*$/;

/** The principal of a request that `requireToken` has accepted. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (!principal) throw new Error('the hook requireToken is missing on this route');
  return principal;
}

function bearerToken({ headers }: FastifyRequest): string {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  const token = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new HttpError(
    'tokenMissing',
    'there is no bearer token: send the header Authorization: Bearer <access token>',
  );
}

function setPrincipal(request: FastifyRequest, principal: Principal | undefined): void {
  if (!principal) {
    throw new HttpError('tokenInvalid', 'the access token is unknown, expired or revoked');
  }
  request.principal = principal;
}
