import { timingSafeEqual } from 'node:crypto';
import { type Authentication, PlantStoreError, type Principal } from '@plant-store/core';
import { scopes } from '@plant-store/schemas';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';

/** Finds the principal of an access token. Returns undefined, or throws `tokenInvalid`, for an invalid token. */
export type Authenticate = (token: string) => Authentication;

/** A hook that accepts only requests with a valid bearer token (RFC 6750), and sets their principal. */
export const requireToken: onRequestHookHandler = (request, _reply, done) => {
  const accept = (principal: Principal | undefined) => {
    request.principal = principal ?? null;
    done(principal ? undefined : tokenInvalid());
  };
  const found = authenticate(request);
  // The result for the static token, or for a cached token, is not a promise.
  if (found instanceof Promise) found.then(accept, done);
  else accept(found);
};

/** Throws when the token of a request that has waited is no longer valid. */
export async function checkTokenAgain(request: FastifyRequest): Promise<void> {
  if (!(await authenticate(request))) throw tokenInvalid();
}

function authenticate({ headers, server }: FastifyRequest): Authentication {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  const [, token] = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? [];
  if (token !== undefined) return server.authenticate(token);
  const message = 'there is no bearer token: send the header Authorization: Bearer <access token>';
  throw new PlantStoreError('tokenMissing', message);
}

/** The server logs the `cause`. Pass a `cause` only for a fault that the operator can correct. */
export function tokenInvalid(cause?: Error): PlantStoreError {
  const message = 'the access token is unknown, expired or revoked: ask the operator for a new one';
  return new PlantStoreError('tokenInvalid', message, { cause });
}

export function principalOf({ principal }: FastifyRequest): Principal {
  if (!principal) throw new Error('the hook requireToken is missing on this route');
  return principal;
}

/** Matches a text that has only the characters of an access token (RFC 6750 §2.1). */
export const tokenSyntax = /^[\w.~+/-]+=*$/;

/** Makes a function that accepts one token, with all scopes. All other tokens go to `fallback`. */
export function acceptStaticToken(
  { name, token }: { name: string; token: string },
  fallback: Authenticate,
): Authenticate {
  const principal = { name, scopes };
  const expected = Buffer.from(token);
  return (sent) => {
    const bytes = Buffer.from(sent);
    const isEqual = bytes.length === expected.length && timingSafeEqual(bytes, expected);
    return isEqual ? principal : fallback(sent);
  };
}
