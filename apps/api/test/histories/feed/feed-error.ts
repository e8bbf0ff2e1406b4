/** The feed no longer has the changes after a cursor. */
export class CursorExpired extends Error {}

/** An error that the feed must not return. */
export class UnexpectedError extends Error {}

/** The store may be slow, down, overloaded or about to stop. */
const passing = (error: number) => error === 40800 || (error >= 50300 && error < 50400);

export function throwTrpcError(error: {
  json: { message: string; data: { error: number } };
}): never {
  const { message, data } = error.json;
  return throwError({ ...data, message });
}

export function throwError({ error, message }: { error?: number; message?: string }): never {
  if (error === 41000) throw new CursorExpired(message);
  if (error !== undefined && passing(error)) throw new Error(message);
  throw new UnexpectedError(`${error} ${message}`);
}
