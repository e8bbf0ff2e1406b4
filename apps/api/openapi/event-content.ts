const cursor = 'NmM3YWFiMDFkMmU1NGYxYSA4MTM';

const plant =
  '{"id":4096,"name":"Monstera deliciosa","tag":"Araceae","createdAt":"2026-01-31T12:00:00.000Z"}';

/** Declares the header that a client sends to resume a stream of events. */
export const lastEventId = {
  in: 'header' as const,
  name: 'Last-Event-ID',
  schema: {
    type: 'string' as const,
    maxLength: 1_000,
    description:
      'Only for events: the `id` of the last event. It replaces `after`. A client that cannot send this ' +
      'header sends the parameter `lastEventId`',
    examples: [cursor],
  },
};

/** Declares the events. OpenAPI 3.1 can describe a stream only as one text. */
export const eventContent = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Server-Sent Events. Each event is a change: `event` is `created` or `deleted`, `data` is a ' +
        '`StoredPlant`, and `id` is the cursor behind the change. Without a cursor in the request, the events ' +
        'begin now. The stream ends within a minute, and the client sends the last `id` to resume it',
    },
    example: `event: created\ndata: ${plant}\nid: ${cursor}\n\n`,
  },
};
