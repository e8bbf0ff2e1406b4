import { int64Bounds } from '@plant-store/schemas';

/**
 * The text at the top of the API reference, as CommonMark. A relative link in this text works in `docs`
 * and in `openapi.json`, because both addresses have the same parent.
 */
export const introduction = `Get an access token from the operator of the store. Then create a plant, and read it back. \`STORE\` is the address of this page without \`/docs\`:

\`\`\`sh
curl "$STORE/plants" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"id":4096,"name":"Monstera deliciosa","tag":"Araceae"}'
curl "$STORE/plants/4096" -H "Authorization: Bearer $TOKEN"
\`\`\`

- **A repeated create is safe.** When a response is lost, send the same plant again: the store keeps one plant, and the response is 200. A different plant under an id that is taken gets 409.
- **You choose the id:** any integer from ${int64Bounds.minimum} to ${int64Bounds.maximum}. JavaScript rounds numbers beyond ±${Number.MAX_SAFE_INTEGER}, so write and read the digits of such an id unchanged.
- **A token has scopes.** A new token can create and read plants unless the operator says otherwise. \`GET /whoami\` returns the scopes.
- **Every error** is \`{"error": 40900, "message": "…"}\`. The first three digits of \`error\` are the HTTP status, and the message says what to do.
- **A generated client** may need \`STORE\` as its base URL, because the URL of the server in this document is relative.
`;

const text = { type: 'string' as const };
const integer = { type: 'integer' as const };
const header = (description: string, schema: object = text) => ({ description, schema });
const required = (description: string, schema?: object) => ({
  ...header(description, schema),
  required: true,
});

/** Many responses have these headers, so the document declares each header only one time. */
export const headers = {
  'X-Request-Id': required(
    'The id of the request in the log: the `X-Request-Id` of the request if it has 1 to 128 letters, digits ' +
      'and characters of `._:/+=@-`, otherwise a new one',
  ),
  'Retry-After': required('Seconds after which to try again', integer),
  'WWW-Authenticate': required('The challenge of RFC 6750'),
  Allow: header('The methods of this path; sent with 405'),
  'Accept-Encoding': header('The content codings that a body may have; sent with 415'),
};

type HeaderName = keyof typeof headers;

const ofStatus: Record<string, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  default: ['Allow', 'Accept-Encoding'],
};

/** Returns references to the headers of a response with a status. */
export function headersByStatus(status: string) {
  const names: HeaderName[] = ['X-Request-Id', ...(ofStatus[status] ?? [])];
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]),
  );
}

/** Declares the header of a response that has one plant. */
export const etag = {
  ETag: { ...required('The version of the plant, for `If-Match`'), example: '"813"' },
};

const condition = (name: string, description: string) => ({
  in: 'header' as const,
  ...{ name, description, schema: text, example: '"813"' },
});

export const conditions = {
  ifMatch: condition('If-Match', 'Only if the plant still has this ETag. Otherwise: 41200'),
  ifNoneMatch: condition('If-None-Match', 'If the plant still has this ETag, the response is 304'),
};

const cursor = 'NmM3YWFiMDFkMmU1NGYxYSA4MTM';
const plant =
  '{"id":4096,"name":"Monstera deliciosa","tag":"Araceae","createdAt":"2026-01-31T12:00:00.000Z"}';

/** Declares the header and the parameter by which a client resumes a stream of events. */
export const resumeEvents = [
  {
    ...{ in: 'header' as const, name: 'Last-Event-ID', schema: { ...text, maxLength: 1_000 } },
    description: 'Only for events: the `id` of the last event. It replaces `after`',
    example: cursor,
  },
  {
    ...{ in: 'query' as const, name: 'lastEventId', schema: { ...text, maxLength: 1_000 } },
    description: 'Only for events: for a client that cannot send `Last-Event-ID`',
    example: cursor,
  },
];

/** Declares the events. OpenAPI 3.1 can describe a stream only as one text. */
export const events = {
  'text/event-stream': {
    schema: {
      ...text,
      description:
        'Server-Sent Events. Each event is a change: `event` is `created`, `updated` or `deleted`, `data` is a ' +
        '`StoredPlant`, and `id` is the cursor behind the change. Without a cursor in the request, the events ' +
        'begin now. The stream ends within a minute, and the client sends the last `id` to resume it',
    },
    example: `event: created\ndata: ${plant}\nid: ${cursor}\n\n`,
  },
};

/** Describes the request that sends a message. `data` is the schema of the message's `data`. */
function message(type: string, summary: string, description: string, data: object = {}) {
  const schema = {
    type: 'object' as const,
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { const: type },
      timestamp: { ...text, format: 'date-time' },
      data: { type: 'object' as const, ...data },
    },
  };
  const post = {
    operationId: type.replace(/\W(\w)/, (_, letter: string) => letter.toUpperCase()),
    ...{ summary, description, tags: ['webhooks'], security: [] },
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'The endpoint has accepted the message' },
      '410': { description: 'The endpoint is gone: the store pauses the webhook' },
      '4XX': { description: 'The store sends the message again later, except a test' },
    },
  };
  return { [type]: { post } };
}

const items = { $ref: '#/components/schemas/PlantChange' };

/** The requests that the store sends to the operator's endpoints. */
export const webhooks = {
  ...message(
    'plants.changed',
    'Plants were created, replaced or deleted',
    'Changes in their order. The headers are those of Standard Webhooks 1.0. Drop a message whose `webhook-id` ' +
      'you have processed.',
    { required: ['changes'], properties: { changes: { type: 'array', maxItems: 100, items } } },
  ),
  ...message(
    'plants.reset',
    'The store no longer has the next changes',
    'Empty your copy, and list the plants again. Later messages have the changes from then on.',
  ),
  ...message('plants.test', 'The operator tests the webhook', 'There is nothing to do.'),
};
