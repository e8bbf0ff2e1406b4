import { deadline, type PlantStore, PlantStoreError, type Principal } from '@plant-store/core';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; set by `authenticate`. */
    principal?: Principal;
    /** Milliseconds that are left for it, when its token has taken some; set by `authenticate`. */
    within?: number;
  }
}

/**
 * Makes a hook that lets requests with a valid bearer token in (RFC 6750) before anything of their
 * body is read.
 */
export function authenticate({ accessTokens }: PlantStore): onRequestHookHandler {
  return (request, _reply, done) => {
    const token = bearerToken(request);
    if (token === undefined) {
      throw new PlantStoreError(
        'tokenMissing',
        'there is no bearer token: send the header Authorization: Bearer <access token>',
      );
    }
    const asked = performance.now();
    const found = accessTokens.authenticate(token);
    // Without a promise where there is none: every request comes through here.
    if (found instanceof Promise) {
      return found.then((principal) => {
        letIn(request, principal);
        request.within = deadline - (performance.now() - asked);
      });
    }
    letIn(request, found);
    return done();
  };
}

function letIn(request: FastifyRequest, principal: Principal | undefined): void {
  if (!principal) {
    throw new PlantStoreError('tokenInvalid', 'the access token is unknown, expired or revoked');
  }
  request.principal = principal;
}

/** What an access token is made of (RFC 6750 §2.1). */
export const tokenSyntax = /^[\w.~+/-]+=*$/;

/** Who sent a request that has passed `authenticate`. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (!principal) throw new Error('authenticate has not run on this route');
  return principal;
}

function bearerToken({ headers }: FastifyRequest): string | undefined {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  return /^bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
}
