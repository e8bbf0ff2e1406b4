import type { Authentication, Principal } from '@plant-store/core';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The principal that sent the request; set by `requireToken`. */
    principal?: Principal;
  }
}

/** Finds the principal of an access token; undefined when the token is not valid. */
export type Authenticate = (token: string) => Authentication;

/** Makes a hook that accepts only requests with a valid bearer token (RFC 6750). */
export function requireToken(authenticate: Authenticate): onRequestAsyncHookHandler {
  return async (request) => {
    const startedAt = performance.now();
    setPrincipal(request, await authenticate(bearerToken(request)));
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
