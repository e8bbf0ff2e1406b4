import { int64Bounds } from '@plant-store/schemas';

/** The text at the top of the API reference, as CommonMark. */
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

const text = { type: 'string' };
const header = (description: string, schema = text) => ({ description, schema, required: true });

/** Many responses have these headers, so the document declares each header once. */
export const headers = {
  'X-Request-Id': header(
    'The id of the request in the log: the `X-Request-Id` of the request if it has 1 to 128 letters, digits ' +
      'and characters of `._:/+=@-` and no access token, otherwise a new one',
  ),
  'Retry-After': header('Seconds after which to try again', { type: 'integer' }),
  'WWW-Authenticate': header('The challenge of RFC 6750'),
  Allow: { ...header('The methods of this path; sent with 405'), required: false },
};

const headerOf: Record<string, keyof typeof headers> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
  default: 'Allow',
};

/** Returns references to the headers that a response with this status has. */
export function headersOf(status: string) {
  const names = ['X-Request-Id', headerOf[status] ?? []].flat();
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const etag = {
  ETag: { ...header('The version of the plant, for `If-Match`'), example: '"813"' },
};

const parameter = (
  place: 'header' | 'query',
  name: string,
  description: string,
  example: string,
) => ({
  ...{ in: place, name, description, schema: { ...text, maxLength: 1_000 }, example },
});

const condition = (name: string, description: string) =>
  parameter('header', name, description, '"813"');

const ifMatch = condition('If-Match', 'Only if the plant still has this ETag. Otherwise: 41200');

const lastEvent =
  'Only for events: the `id` of the last event, in place of `after`. An EventSource sends the header `Last-Event-ID`, which overrides this parameter';
const cursor = 'NmM3YWFiMDFkMmU1NGYxYSA4MTM';
const plant =
  '{"id":4096,"name":"Monstera deliciosa","tag":"Araceae","createdAt":"2026-01-31T12:00:00.000Z"}';

/** OpenAPI 3.1 can describe a stream only as one text. */
const events = {
  'text/event-stream': {
    schema: {
      ...text,
      description:
        'Server-Sent Events. Each event is a change: `event` is `created`, `updated` or `deleted`, `data` is a ' +
        '`StoredPlant`, and `id` is the cursor after the change. Without a cursor in the request, the events ' +
        'begin now. The stream ends after 30 to 70 seconds, and the client sends the last `id` to resume it',
    },
    example: `event: created\ndata: ${plant}\nid: ${cursor}\n\n`,
  },
};

/** The parts of an operation that its procedure does not have, because they belong to HTTP. */
interface Addition {
  parameters?: { name: string; schema: object }[];
  headers?: object;
  content?: object;
  responses?: Record<string, object>;
}

export const additions: Record<string, Addition> = {
  getPlant: {
    parameters: [
      condition('If-None-Match', 'If the plant still has this ETag, the response is 304'),
    ],
    headers: etag,
    responses: { 304: { description: 'The plant has this ETag', headers: etag } },
  },
  replacePlant: { parameters: [ifMatch], headers: etag },
  deletePlant: { parameters: [ifMatch] },
  listPlantChanges: {
    content: events,
    // A second parameter for the header would give some generators two arguments with one name.
    parameters: [parameter('query', 'lastEventId', lastEvent, cursor)],
  },
};
