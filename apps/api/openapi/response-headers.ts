const schema = { type: 'string' } as const;

/** Declares a header that only some responses with a status have. */
export const header = (description: string) => ({ description, schema });

/** Declares a header that every response with a status has. */
export const requiredHeader = (description: string) => ({ description, required: true, schema });

const count = (description: string) => ({
  description: `${description}. Sent only where the store has a rate limit.`,
  schema: { type: 'integer' } as const,
});

/** The document's components for headers that many responses have. */
export const sharedHeaders = {
  'X-Request-Id': requiredHeader(
    'The id of the request in the log: the one that the client sent, or a new one',
  ),
  'X-RateLimit-Limit': count('Requests that this client may send in a minute'),
  'X-RateLimit-Remaining': count('Requests that this client may still send in this minute'),
  'X-RateLimit-Reset': count('Seconds until this minute ends'),
};

/** The header that every response has. */
export const requestId = references('X-Request-Id');

/** The headers of the response to every request that a rate limit counts. */
export const rateLimit = references(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
);

function references(...names: (keyof typeof sharedHeaders)[]) {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]),
  );
}
