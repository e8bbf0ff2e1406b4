import * as z from 'zod';
import { dateTime, isTime, namePattern, notTime, toTime } from './access-tokens.ts';
import { defaultPageSize, maxPageSize } from './limits.ts';
import { integerBetween } from './plant.ts';
import { cursor } from './plant-changes.ts';
import { unknownParameters } from './stored-plant.ts';

const name = z
  .string('must be a string')
  .refine((text) => namePattern.test(text), {
    error: 'must have 1 to 100 characters and no control characters',
  })
  .meta({
    description: 'The name of the webhook',
    examples: ['partner'],
    override: { minLength: 1, maxLength: 100 },
  });

/** An attempt to send a message. */
export const WebhookAttempt = z
  .object({
    at: z.date().meta(dateTime('When the attempt began', '2026-11-21T09:30:00.000Z')),
    id: z.string().meta({
      description: 'The header `webhook-id` of the message',
      examples: ['msg_1mDUR9BSKCvv5P4kHbqGdQ'],
    }),
    milliseconds: z.int().meta({ description: 'How long the attempt took', examples: [120] }),
    status: z
      .int()
      .meta({ description: 'The status of the response; absent without one', examples: [200] })
      .optional(),
    error: z
      .string()
      .meta({ description: 'Why the attempt failed; absent after a success' })
      .optional(),
  })
  .meta({ id: 'WebhookAttempt' });

/** An endpoint that gets changes by HTTP. Its secret is not a part of it. */
export const Webhook = z
  .object({
    name,
    url: z.string().meta({
      description: 'The address of the endpoint',
      examples: ['https://partner.example/plants'],
    }),
    state: z.enum(['active', 'failing', 'paused']).meta({
      description: '`failing`: the last attempt failed, and the store repeats it',
      examples: ['active'],
    }),
    createdAt: z.date().meta(dateTime('When it was created', '2026-11-21T09:30:00.000Z')),
    cursor: z.string().meta({
      description: 'The endpoint has the changes up to this cursor',
      examples: ['NmM3YWFiMDFkMmU1NGYxYSA4MTM'],
    }),
    pausedBecause: z
      .string()
      .meta({ description: 'Why the store paused it; absent when a person did' })
      .optional(),
    nextAttemptAt: z
      .date()
      .meta(dateTime('When the store repeats the failed attempt', '2026-11-21T09:35:00.000Z'))
      .optional(),
    lastAttempt: WebhookAttempt.optional(),
  })
  .meta({ id: 'Webhook' });

const secret = z.string().meta({
  description: 'The secret that signs the messages. The store cannot show it again',
  examples: ['whsec_MDEyMzQ1Njc4OWFiY2RlZg=='],
});

export const CreatedWebhook = Webhook.extend({ secret }).meta({ id: 'CreatedWebhook' });

export const WebhookSecret = z.object({ secret }).meta({ id: 'WebhookSecret' });

export const WebhookPage = z
  .object({
    webhooks: z.array(Webhook).meta({ description: 'Webhooks, ascending by name' }),
    next: name
      .meta({ description: 'The `after` of the next page; absent on the last page' })
      .optional(),
  })
  .meta({ id: 'WebhookPage' });

/** The input of the procedure that creates a webhook. */
export const NewWebhook = z
  .object(
    {
      url: z
        .string('must be a string')
        .max(2_000, 'must have at most 2000 characters')
        .refine((text) => URL.canParse(text), 'must be a URL')
        .meta({
          description: 'The address of the endpoint, with https and a public host',
          examples: ['https://partner.example/plants'],
          override: { format: 'uri' },
        }),
      name: name.meta({ description: 'A name. Default: the host of the URL' }).optional(),
      from: cursor
        .meta({ description: 'Sends the changes behind this cursor. Default: new changes only' })
        .optional(),
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewWebhook' });

export const ListWebhooks = z
  .strictObject(
    {
      after: name.meta({ description: 'The `next` of the page before' }).optional(),
      limit: integerBetween(1, maxPageSize)
        .default(defaultPageSize)
        .meta({ description: 'How many webhooks to return, at most', examples: [100] }),
    },
    { error: unknownParameters },
  )
  .prefault({});

/** The input of a procedure that works on one webhook. */
export const WebhookNameInput = z.strictObject({ name }, { error: unknownParameters });

export const UpdateWebhook = z
  .object(
    {
      name,
      paused: z.boolean('must be true or false').meta({
        description: 'Whether the store sends nothing to the endpoint',
        examples: [true],
      }),
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'UpdateWebhook' });

/** The input of the procedure that sends changes again. */
export const ReplayWebhook = z
  .object(
    {
      name,
      after: cursor.meta({ description: 'Sends the changes behind this cursor again' }).optional(),
      since: z
        .string(notTime)
        .refine(isTime, notTime)
        .meta(dateTime('Sends the changes since this time again', '2026-11-21T09:30:00.000Z'))
        .transform(toTime)
        .optional(),
    },
    { error: 'must be an object' },
  )
  .refine(({ after, since }) => (after === undefined) !== (since === undefined), {
    error: 'must have either after or since',
  })
  .meta({ title: 'ReplayWebhook' });

export type WebhookAttempt = z.output<typeof WebhookAttempt>;
export type Webhook = z.output<typeof Webhook>;
export type CreatedWebhook = z.output<typeof CreatedWebhook>;
export type WebhookPage = z.output<typeof WebhookPage>;
export type NewWebhook = z.output<typeof NewWebhook>;
export type ListWebhooks = z.output<typeof ListWebhooks>;
export type ReplayWebhook = z.output<typeof ReplayWebhook>;
