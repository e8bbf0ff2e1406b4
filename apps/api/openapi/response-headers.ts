const schema = { type: 'string' } as const;
export const integer = { type: 'integer' } as const;

/** Declares an optional header: a response with this status may lack the header. */
export const header = (description: string) => ({ description, schema });

/** Declares a required header: every response with this status has the header. */
export const requiredHeader = (description: string) => ({ description, required: true, schema });

const count = (description: string) => ({
  description: `${description}. Sent only where the store has a rate limit.`,
  schema: integer,
});

/** Many responses have these headers, so the document declares each header only one time. */
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

/** When a rate limit counts a request, the response has these headers. */
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
