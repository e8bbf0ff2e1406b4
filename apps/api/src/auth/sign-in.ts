import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { isObject, parseJsonBodies } from '../requests/body/json-body.ts';
import { checkBodyHeaders, sendContinue } from '../requests/request-headers.ts';
import { sendJson } from '../responses/json-response.ts';
import { limitAuthenticationErrors } from './authentication-limit.ts';

const lifetime = 10 * 60_000;

export type SignIn = ReturnType<typeof createSignIn>;

/**
 * Makes a code for the access token. The console can exchange the code for the token one time, within ten
 * minutes. A link contains the code and not the token, because browsers store the links that they open.
 */
export function createSignIn(token: string) {
  const code = randomBytes(16).toString('base64url');
  const expected = Buffer.from(code);
  const end = performance.now() + lifetime;
  let isUsed = false;
  return {
    code,
    /** Returns the token. Returns undefined when the code is wrong, used or too old. */
    exchange(given: string): string | undefined {
      const bytes = Buffer.from(given);
      const isRight = bytes.length === expected.length && timingSafeEqual(bytes, expected);
      if (!isRight || isUsed || performance.now() > end) return undefined;
      isUsed = true;
      return token;
    },
  };
}

interface SignInOptions {
  signIn: SignIn;
  /** How many exchanges of one client may fail in a minute. Undefined means no limit. */
  maxErrors: number | undefined;
}

/** Serves the route at which the console exchanges a code for the token. */
export async function signInRoute(scope: FastifyInstance, { signIn, maxErrors }: SignInOptions) {
  const limited = limitAuthenticationErrors(maxErrors ?? Number.POSITIVE_INFINITY);
  scope.addHook('onRequest', checkBodyHeaders);
  scope.addHook('onRequest', sendContinue);
  parseJsonBodies(scope, JSON.parse);

  scope.post('/console/sign-in', { bodyLimit: 1024 }, async ({ body, ip }, reply) => {
    const code = isObject(body) ? body['code'] : undefined;
    if (typeof code !== 'string') {
      throw new HttpError('invalidInput', 'invalid input: code must be a string');
    }
    const token = await limited(ip, () => signIn.exchange(code));
    if (token === undefined) throw new HttpError('tokenInvalid', codeInvalid);
    return sendJson(reply, { token });
  });
}

const codeInvalid =
  'the code of this link is unknown, used or over ten minutes old: enter the access token, or start the server again for a new link';
