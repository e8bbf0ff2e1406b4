/** An access token, or a function that returns the token. */
export type AccessToken = string | (() => string | Promise<string>);

/**
 * The client sent no request, because the access token is missing or invalid, or because the token function
 * threw an error. A token is invalid if an HTTP header cannot contain all its characters.
 */
export class AccessTokenError extends Error {
  override readonly name = 'AccessTokenError';
}

/** Returns the `Authorization` header. An `AccessTokenError` does not contain the token. */
export async function bearer(token: AccessToken): Promise<string> {
  const given: unknown = typeof token === 'function' ? await callFunction(token) : token;
  // A token from a file may end with a line break.
  const value = typeof given === 'string' ? given.trim() : '';
  if (value === '') {
    throw new AccessTokenError('the access token is missing: give the client a token of the store');
  }
  if (notInHeader.test(value)) {
    throw new AccessTokenError(
      'the access token contains a character that an HTTP header cannot hold: ' +
        'give the client the token as the store showed it',
    );
  }
  return `Bearer ${value}`;
}

/** Matches a character that an HTTP header cannot contain (RFC 9110, section 5.5). */
const notInHeader = /[^\t\x20-\x7e\x80-\xff]/;

async function callFunction(token: () => string | Promise<string>): Promise<string> {
  try {
    return await token();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AccessTokenError(`the token function threw an error: ${reason}`, { cause });
  }
}
