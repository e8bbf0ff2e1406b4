/** The headers of Standard Webhooks 1.0. */
const headers = {
  'webhook-id': 'The id of the message, which is the same in each attempt',
  'webhook-timestamp': 'The time of the attempt, as seconds since 1970',
  'webhook-signature':
    'One or more signatures `v1,…` by Standard Webhooks 1.0, separated by spaces',
};

const parameters = Object.entries(headers).map(([name, description]) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const },
}));

const responses = {
  '2XX': { description: 'The endpoint has accepted the message' },
  '410': { description: 'The endpoint is gone: the store pauses the webhook' },
  '4XX': { description: 'The store sends the message again later' },
};

const changes = {
  type: 'array',
  minItems: 1,
  maxItems: 100,
  items: { $ref: '#/components/schemas/PlantChange' },
} as const;

function message(type: string, texts: { summary: string; description: string }, data: object) {
  const operationId = type.replace(/\W(\w)/, (_, letter: string) => letter.toUpperCase());
  const timestamp = { type: 'string', format: 'date-time' } as const;
  const schema = {
    type: 'object' as const,
    required: ['type', 'timestamp', 'data'],
    properties: { type: { const: type }, timestamp, data: { type: 'object' as const, ...data } },
  };
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  return {
    post: {
      operationId,
      ...texts,
      tags: ['plants'],
      security: [],
      parameters,
      requestBody,
      responses,
    },
  };
}

/** The requests that the store sends to the operator's endpoints. */
export const webhooks = {
  'plants.changed': message(
    'plants.changed',
    {
      summary: 'Plants were created or deleted',
      description: 'Changes in their order. Drop a message whose `webhook-id` you have processed.',
    },
    { required: ['changes'], properties: { changes } },
  ),
  'plants.reset': message(
    'plants.reset',
    {
      summary: 'The store no longer has the next changes',
      description:
        'Empty your copy, and list the plants again. Later messages have the changes from then on.',
    },
    {},
  ),
};
