import * as z from 'zod';
import {
  Cursor,
  cursorExample,
  Name,
  pageLimit,
  parameters,
  textOut,
  timeIn,
  timeOut,
} from './fields.ts';
import { body, output } from './plant.ts';

const name = Name.meta({ description: 'The name of the webhook', examples: ['partner'] });

const url = 'https://partner.example/plants';

/** An attempt to send a message. */
export const WebhookAttempt = output('WebhookAttempt', {
  at: timeOut('When the attempt began'),
  id: textOut('The header `webhook-id` of the message', 'msg_1mDUR9BSKCvv5P4kHbqGdQ'),
  milliseconds: z.int().meta({ description: 'How long the attempt took' }),
  status: z
    .int()
    .meta({ description: 'The status of the response; absent without a response' })
    .optional(),
  error: textOut('Why the attempt failed; absent after a success').optional(),
});

/** A webhook without its secret. A webhook sends the changes to an endpoint by HTTP. */
export const Webhook = output('Webhook', {
  name,
  url: textOut('The address of the endpoint', url),
  state: z
    .enum(['active', 'failing', 'paused'])
    .meta({ description: '`failing`: the last attempt failed, and the store repeats it' }),
  createdAt: timeOut('When the webhook was created'),
  cursor: textOut('The endpoint has the changes up to this cursor', cursorExample),
  pausedBecause: textOut('Why the store itself paused the webhook; otherwise absent').optional(),
  nextAttemptAt: timeOut('When the store repeats the failed attempt').optional(),
  lastAttempt: WebhookAttempt.optional(),
});

const secret = textOut('The secret that signs the messages. The store cannot show it again');

export const CreatedWebhook = Webhook.extend({ secret }).meta({ id: 'CreatedWebhook' });

export const WebhookSecret = z.object({ secret }).meta({ id: 'WebhookSecret' });

export const WebhookPage = output('WebhookPage', {
  webhooks: z.array(Webhook).meta({ description: 'Webhooks, ascending by name' }),
  next: name
    .meta({ description: 'The `after` of the next page; absent on the last page' })
    .optional(),
});

/** The input of the procedure that creates a webhook. */
export const NewWebhook = body({
  url: z
    .string('must be a string')
    .max(2_000, 'must have at most 2000 characters')
    .refine((text) => URL.canParse(text), 'must be a URL')
    .meta({
      description: 'The address of the endpoint, with https and a public host',
      override: { format: 'uri' },
      examples: [url],
    }),
  name: name.meta({ description: 'A name. Default: the host of the URL' }).optional(),
  from: Cursor.meta({
    description: 'Sends the changes after this cursor. Default: new changes only',
  }).optional(),
}).meta({ title: 'NewWebhook' });

export const ListWebhooks = parameters({
  after: name.meta({ description: 'The `next` of the page before' }).optional(),
  limit: pageLimit('webhooks'),
}).prefault({});

/** The input of a procedure that works on one webhook. */
export const WebhookNameInput = parameters({ name });

export const UpdateWebhook = body({
  name,
  paused: z
    .boolean('must be true or false')
    .meta({ description: 'Whether the store sends nothing to the endpoint' }),
}).meta({ title: 'UpdateWebhook' });

/** The input of the procedure that sends changes again. */
export const ReplayWebhook = body({
  name,
  after: Cursor.meta({ description: 'Sends the changes after this cursor again' }).optional(),
  since: timeIn('Sends the changes since this time again').optional(),
})
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
