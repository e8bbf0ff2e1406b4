import {
  CreatedWebhook,
  ListWebhooks,
  NewWebhook,
  ReplayWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttempt,
  WebhookNameInput,
  WebhookPage,
  WebhookSecret,
} from '@plant-store/schemas';
import * as z from 'zod';
import { define } from './trpc/define.ts';

const scope = 'webhooks:manage';

export const webhookProcedures = {
  listWebhooks: define({
    type: 'query',
    scope,
    rest: { method: 'GET', path: '/webhooks', status: 200 },
    summary: 'Lists webhooks',
    description: 'The webhooks are in ascending order of name. The list does not contain secrets.',
    returns: 'A page of webhooks',
    input: ListWebhooks,
    output: WebhookPage,
    run: ({ ctx: { store }, input }) => store.webhooks.list(input),
  }),

  createWebhook: define({
    type: 'mutation',
    scope,
    rest: { method: 'POST', path: '/webhooks', status: 200 },
    summary: 'Creates a webhook',
    description:
      'The store sends each change of a plant to the endpoint, as Standard Webhooks 1.0 defines. Only this ' +
      'response contains the secret.',
    returns: 'The webhook and its secret',
    input: NewWebhook,
    output: CreatedWebhook,
    run: ({ ctx: { store }, input }) => store.webhooks.create(input),
  }),

  getWebhook: define({
    type: 'query',
    scope,
    rest: { method: 'GET', path: '/webhooks/{name}', status: 200 },
    summary: 'Returns a webhook',
    description: 'Returns the webhook with its state and its last attempt.',
    returns: 'The webhook',
    input: WebhookNameInput,
    output: Webhook,
    run: ({ ctx: { store }, input }) => store.webhooks.get(input.name),
  }),

  updateWebhook: define({
    type: 'mutation',
    scope,
    rest: { method: 'PATCH', path: '/webhooks/{name}', status: 200 },
    summary: 'Pauses or resumes a webhook',
    description:
      'A resumed webhook continues with the first change that the endpoint has not accepted.',
    returns: 'The webhook',
    input: UpdateWebhook,
    output: Webhook,
    run: ({ ctx: { store }, input }) => store.webhooks.setPaused(input.name, input.paused),
  }),

  deleteWebhook: define({
    type: 'mutation',
    scope,
    rest: { method: 'DELETE', path: '/webhooks/{name}', status: 204 },
    summary: 'Deletes a webhook',
    description: 'A message that is on its way may still arrive.',
    returns: 'The webhook is deleted',
    input: WebhookNameInput,
    output: z.void(),
    run: ({ ctx: { store }, input }) => store.webhooks.delete(input.name),
  }),

  rotateWebhookSecret: define({
    type: 'mutation',
    scope,
    rest: { method: 'POST', path: '/webhooks/{name}/secret', status: 200 },
    summary: 'Makes a new secret',
    description:
      'Pause the webhook, give the endpoint the new secret, and resume: no message is lost.',
    returns: 'The new secret',
    input: WebhookNameInput,
    output: WebhookSecret,
    run: async ({ ctx: { store }, input }) => ({
      secret: await store.webhooks.rotateSecret(input.name),
    }),
  }),

  replayWebhook: define({
    type: 'mutation',
    scope,
    rest: { method: 'POST', path: '/webhooks/{name}/replay', status: 204 },
    summary: 'Sends changes again',
    description: 'Sends changes again: the changes after a cursor, or since a time.',
    returns: 'The store sends the changes again',
    input: ReplayWebhook,
    output: z.void(),
    run: ({ ctx: { store }, input: { name, ...from } }) => store.webhooks.replay(name, from),
  }),

  testWebhook: define({
    type: 'mutation',
    scope,
    rest: { method: 'POST', path: '/webhooks/{name}/test', status: 200 },
    summary: 'Sends a test message',
    description: 'Sends a message of the type `plants.test` now, and returns the attempt.',
    returns: 'The attempt',
    input: WebhookNameInput,
    output: WebhookAttempt,
    run: ({ ctx: { store }, input }) => store.webhooks.test(input.name),
  }),
};
