import { AccessTokenError, plantStoreError } from '@plant-store/client';
import type { ErrorKind } from '@plant-store/schemas';

/** Returns a message that explains the error of a request to a person. */
export function explainError(thrown: unknown): string {
  const error = plantStoreError(thrown);
  // The messages of these errors are for programmers, such as "Failed to fetch".
  if (error?.kind === 'noResponse' || error?.kind === 'timeout') {
    return 'The plant store does not respond. Check the network, and try again.';
  }
  const { message } = error ?? (thrown instanceof Error ? thrown : { message: String(thrown) });
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Whether the store rejects the access token, or an HTTP header cannot contain the token. */
export function isTokenError(thrown: unknown): boolean {
  if (thrown instanceof Error && thrown.cause instanceof AccessTokenError) return true;
  const kind = plantStoreError(thrown)?.kind;
  return kind === 'tokenInvalid' || kind === 'tokenMissing';
}

/** Whether the store has rejected a request for this reason. */
export function isError(thrown: unknown, kind: ErrorKind): boolean {
  return plantStoreError(thrown)?.kind === kind;
}

/** Explains the error of a request, if there is one, and if it is not that the user has stopped the request. */
export function ErrorAlert({ error, start }: { error: unknown; start?: string }) {
  const { name, cause }: { name?: string; cause?: { name?: string } } = Object(error);
  if (!error || name === 'AbortError' || cause?.name === 'AbortError') return null;
  return (
    <p className="alert" role="alert">
      {start && `${start} `}
      {explainError(error)}
    </p>
  );
}
