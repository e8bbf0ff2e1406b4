import { AccessTokenError, plantStoreError } from '@plant-store/client';

export const noResponse = 'The plant store does not respond. Check the network, and try again.';

/** Returns a message that explains the error of a request to the user. */
export function explainError(thrown: unknown): string {
  // The message of a `noResponse` error is for programmers, such as "Failed to fetch".
  if (plantStoreError(thrown)?.kind === 'noResponse') return noResponse;
  const { message } =
    plantStoreError(thrown) ?? (thrown instanceof Error ? thrown : { message: String(thrown) });
  return capitalized(message);
}

/** Makes the first letter of a sentence a capital letter, but not of a file name such as "plants.xlsx". */
export function capitalized(text: string): string {
  return text.replace(/^[a-z]+[ :,]/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** Whether the store rejects the access token, or an HTTP header cannot contain the token. */
export function isTokenError(thrown: unknown): boolean {
  if (thrown instanceof Error && thrown.cause instanceof AccessTokenError) return true;
  const kind = plantStoreError(thrown)?.kind;
  return kind === 'tokenInvalid' || kind === 'tokenMissing';
}

/** Whether the access token lacks the scope for a request. */
export function isScopeError(thrown: unknown): boolean {
  return plantStoreError(thrown)?.kind === 'insufficientScope';
}
