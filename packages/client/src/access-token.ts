/** An access token, or a function that gives it. */
export type AccessToken = string | (() => string | Promise<string>);

/** The function that was to give the access token threw: the cause is what it threw. */
export class AccessTokenError extends Error {
  override readonly name = 'AccessTokenError';
}

/** The Authorization header's value. */
export async function bearer(token: AccessToken): Promise<string> {
  return `Bearer ${typeof token === 'string' ? token : await give(token)}`;
}

async function give(token: () => string | Promise<string>): Promise<string> {
  try {
    return await token();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AccessTokenError(`the token function failed: ${why}`, { cause });
  }
}
