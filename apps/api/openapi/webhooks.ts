/** The headers of Standard Webhooks 1.0. */
const headers = {
  'webhook-id': 'The id of the message, which is the same in each attempt',
  'webhook-timestamp': 'The time of the attempt, as seconds since 1970',
  'webhook-signature':
    'One or more signatures `v1,…` by Standard Webhooks 1.0, separated by spaces',
};

/** The parameters that all messages share. */
export const webhookParameters = Object.fromEntries(
  Object.entries(headers).map(([name, description]) => [
    name,
    {
      name,
      in: 'header' as const,
      required: true,
      description,
      schema: { type: 'string' as const },
    },
  ]),
);

const parameters = Object.keys(headers).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

const accepted = { '2XX': { description: 'The endpoint has accepted the message' } };

const responses = {
  ...accepted,
  '410': { description: 'The endpoint is gone: the store pauses the webhook' },
  '4XX': { description: 'The store sends the message again later' },
};

/** Describes the request that sends a message. `data` is the schema of the message's `data`. */
function message(
  type: string,
  summary: string,
  description: string,
  data: object,
  expected: object = responses,
) {
  const schema = {
    type: 'object' as const,
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { const: type },
      timestamp: { type: 'string' as const, format: 'date-time' },
      data: { type: 'object' as const, ...data },
    },
  };
  const operationId = type.replace(/\W(\w)/, (_, letter: string) => letter.toUpperCase());
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  const tags = ['plants'];
  const operation = { operationId, summary, description, tags, security: [], parameters };
  return { [type]: { post: { ...operation, requestBody, responses: expected } } };
}

const items = { $ref: '#/components/schemas/PlantChange' };

/** The requests that the store sends to the operator's endpoints. */
export const webhooks = {
  ...message(
    'plants.changed',
    'Plants were created or deleted',
    'Changes in their order. Drop a message whose `webhook-id` you have processed.',
    { required: ['changes'], properties: { changes: { type: 'array', maxItems: 100, items } } },
  ),
  ...message(
    'plants.reset',
    'The store no longer has the next changes',
    'Empty your copy, and list the plants again. Later messages have the changes from then on.',
    {},
  ),
  ...message(
    'plants.test',
    'The operator tests the webhook',
    'There is nothing to do.',
    {},
    { ...accepted, '4XX': { description: 'The store shows the status to the operator' } },
  ),
};
