import type { Authentication, Principal } from '@plant-store/core';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { createFairTurns } from '../requests/fair-turns.ts';

/** Finds the principal of an access token. Returns undefined when the token is not valid. */
export type Authenticate = (token: string) => Authentication;

/**
 * Makes a hook that accepts only requests with a valid bearer token (RFC 6750). One SQL statement looks up
 * the tokens of many requests. Then these requests continue a few at a time, because all at once would block
 * the event loop.
 */
export function requireToken(authenticate: Authenticate): onRequestAsyncHookHandler {
  const takeTurn = createFairTurns();
  const turnOf = (request: FastifyRequest) =>
    new Promise<void>((resolve) => takeTurn(request, () => resolve()));

  return async (request) => {
    const token = bearerToken(request);
    const look = () => (token === undefined ? undefined : authenticate(token));
    const authentication = look();
    request.checkTokenAgain = async () => {
      await turnOf(request);
      if (!(await look())) throw tokenInvalid();
    };
    const principal = await authentication;
    if (authentication instanceof Promise) await turnOf(request);
    request.principal = principal ?? rejectToken(token);
  };
}

/** The server logs the `cause`. Pass a `cause` only for a fault that the operator can correct. */
export function tokenInvalid(cause?: Error): HttpError {
  const message = 'the access token is unknown, expired or revoked: ask the operator for a new one';
  return new HttpError('tokenInvalid', message, { cause });
}

/** Matches a text that has only the characters of an access token (RFC 6750 §2.1). */
export const tokenSyntax = /^[\w.~+/-]+=*$/;

export function principalOf({ principal }: FastifyRequest): Principal {
  if (!principal) throw new Error('the hook requireToken is missing on this route');
  return principal;
}

function bearerToken({ headers }: FastifyRequest): string | undefined {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  return /^bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
}

function rejectToken(token: string | undefined): never {
  if (token !== undefined) throw tokenInvalid();
  throw new HttpError(
    'tokenMissing',
    'there is no bearer token: send the header Authorization: Bearer <access token>',
  );
}
