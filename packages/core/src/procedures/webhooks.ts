import {
  CreatedWebhook,
  ListWebhooks,
  NewWebhook,
  operations,
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
const tags = ['webhooks'];

/** Returns a page of webhooks, without their secrets. */
export const listWebhooks = define({
  type: 'query',
  meta: {
    scope,
    openapi: {
      ...operations.listWebhooks,
      summary: 'Lists webhooks',
      description:
        'Ascending by name. Never shows a secret. Needs `webhooks:manage`, like the next ones.',
      tags,
      successDescription: 'A page of webhooks',
    },
  },
  input: ListWebhooks,
  output: WebhookPage,
  run: ({ ctx: { store }, input }) => store.webhooks.list(input),
});

/** Creates a webhook: from now on, the store sends each change to the endpoint. */
export const createWebhook = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.createWebhook,
      summary: 'Creates a webhook',
      description:
        'The store sends each change of a plant to the endpoint, as Standard Webhooks 1.0 defines. The secret is ' +
        'shown once.',
      tags,
      successDescription: 'The webhook and its secret',
    },
  },
  input: NewWebhook,
  output: CreatedWebhook,
  run: ({ ctx: { store }, input }) => store.webhooks.create(input),
});

/** Returns a webhook with its state and its last attempt. */
export const getWebhook = define({
  type: 'query',
  meta: {
    scope,
    openapi: {
      ...operations.getWebhook,
      summary: 'Returns a webhook',
      description: 'The webhook with its state and its last attempt.',
      tags,
      successDescription: 'The webhook',
    },
  },
  input: WebhookNameInput,
  output: Webhook,
  run: ({ ctx: { store }, input }) => store.webhooks.get(input.name),
});

/** Pauses or resumes a webhook. */
export const updateWebhook = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.updateWebhook,
      summary: 'Pauses or resumes a webhook',
      description:
        'A resumed webhook continues with the first change that the endpoint has not accepted.',
      tags,
      successDescription: 'The webhook',
    },
  },
  input: UpdateWebhook,
  output: Webhook,
  run: ({ ctx: { store }, input }) => store.webhooks.setPaused(input.name, input.paused),
});

/** Deletes a webhook. */
export const deleteWebhook = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.deleteWebhook,
      summary: 'Deletes a webhook',
      description: 'A message that is on its way may still arrive.',
      tags,
      successDescription: 'The webhook is deleted',
    },
  },
  input: WebhookNameInput,
  output: z.void(),
  run: ({ ctx: { store }, input }) => store.webhooks.delete(input.name),
});

/** Gives a webhook a new secret. */
export const rotateWebhookSecret = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.rotateWebhookSecret,
      summary: 'Makes a new secret',
      description:
        'Pause the webhook, give the endpoint the new secret, and resume: no message is lost.',
      tags,
      successDescription: 'The new secret',
    },
  },
  input: WebhookNameInput,
  output: WebhookSecret,
  run: async ({ ctx: { store }, input }) => ({
    secret: await store.webhooks.rotateSecret(input.name),
  }),
});

/** Sends changes to a webhook again. */
export const replayWebhook = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.replayWebhook,
      summary: 'Sends changes again',
      description: 'Sends the changes behind a cursor, or since a time, again.',
      tags,
      successDescription: 'The store sends the changes again',
    },
  },
  input: ReplayWebhook,
  output: z.void(),
  run: ({ ctx: { store }, input: { name, ...from } }) => store.webhooks.replay(name, from),
});

/** Sends a test message to a webhook. */
export const testWebhook = define({
  type: 'mutation',
  meta: {
    scope,
    openapi: {
      ...operations.testWebhook,
      summary: 'Sends a test message',
      description: 'Sends a message of the type `plants.test` now, and returns the attempt.',
      tags,
      successDescription: 'The attempt',
    },
  },
  input: WebhookNameInput,
  output: WebhookAttempt,
  run: ({ ctx: { store }, input }) => store.webhooks.test(input.name),
});
