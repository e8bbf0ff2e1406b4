import type { OpenAPIObject } from 'trpc-to-openapi';

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

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

const time = { type: 'string' as const, format: 'date-time' };

function message(type: string, summary: string, description: string, data: Schema) {
  return {
    post: {
      operationId: type.replace(/\W(\w)/, (_, letter: string) => letter.toUpperCase()),
      summary,
      description,
      tags: ['plants'],
      security: [],
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object' as const,
              required: ['type', 'timestamp', 'data'],
              properties: { type: { const: type }, timestamp: time, data },
            },
          },
        },
      },
      responses: {
        '2XX': { description: 'The endpoint has accepted the message' },
        '410': { description: 'The endpoint is gone: the store pauses the webhook' },
        '4XX': { description: 'The store sends the message again later' },
      },
    },
  };
}

/** The requests that the store sends to the operator's endpoints. */
export const webhooks: NonNullable<OpenAPIObject['webhooks']> = {
  'plants.changed': message(
    'plants.changed',
    'Plants were created or deleted',
    'Changes in their order. Drop a message whose `webhook-id` you have processed.',
    {
      type: 'object',
      required: ['changes'],
      properties: {
        changes: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: { $ref: '#/components/schemas/PlantChange' },
        },
      },
    },
  ),
  'plants.reset': message(
    'plants.reset',
    'The store no longer has the next changes',
    'Empty your copy, and list the plants again. Later messages have the changes from then on.',
    { type: 'object' },
  ),
};
