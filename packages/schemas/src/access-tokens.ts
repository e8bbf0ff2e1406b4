import * as z from 'zod';
import { defaultPageSize, maxPageSize } from './limits.ts';
import { integerBetween } from './plant.ts';
import { type Scope, scopes } from './scopes.ts';
import { unknownParameters } from './stored-plant.ts';

/** The metadata of a time. */
export const dateTime = (description: string, example: string) => ({
  description,
  override: { type: 'string' as const, format: 'date-time', examples: [example] },
});

const expiresAt = z
  .date()
  .meta(dateTime('When the token expires; absent when it never does', '2027-11-21T09:30:00.000Z'))
  .optional();

// The type is not an enumeration, because later versions may have further scopes.
const scopeNames = z.array(z.string()).meta({
  description: `What the token may do: ${scopes.map((scope) => `\`${scope}\``).join(', ')}`,
  examples: [['plants:create', 'plants:read']],
});

const tokenId = z
  .string({ error: 'must be a string' })
  .refine((id) => /^[0-9a-f]{16}$/.test(id), 'must be 16 hexadecimal digits, as the list shows')
  .meta({ description: 'Identifies the token, and is no secret', examples: ['5f70bf18a0860070'] });

const tokenName = z.string('must be a string').meta({
  description: 'The name of the client, which the log shows. No control characters',
  examples: ['garden-centre'],
});

/** What a list shows about an access token. The token itself is secret, so the list does not contain it. */
export const AccessToken = z
  .object({
    id: tokenId,
    name: tokenName,
    scopes: scopeNames,
    createdAt: z.date().meta(dateTime('When it was created', '2026-11-21T09:30:00.000Z')),
    expiresAt,
    lastUsedAt: z
      .date()
      .meta(dateTime('When it was last used, up to 90 s too early', '2026-11-22T09:30:00.000Z'))
      .optional(),
    revokedAt: z
      .date()
      .meta(dateTime('When it was revoked', '2026-11-23T09:30:00.000Z'))
      .optional(),
  })
  .meta({ id: 'AccessToken' });

export const AccessTokenPage = z
  .object({
    tokens: z.array(AccessToken).meta({ description: 'Access tokens, the newest first' }),
    next: tokenId
      .meta({ description: 'The `after` of the next page; absent on the last page' })
      .optional(),
  })
  .meta({ id: 'AccessTokenPage' });

export const ListAccessTokens = z
  .strictObject(
    {
      after: tokenId.meta({ description: 'The `next` of the page before' }).optional(),
      limit: integerBetween(1, maxPageSize)
        .default(defaultPageSize)
        .meta({ description: 'How many tokens to return, at most', examples: [100] }),
    },
    { error: unknownParameters },
  )
  .prefault({});

/** The input of a procedure without parameters. */
export const Nothing = z.strictObject({}, { error: unknownParameters }).prefault({});

/** The input of a procedure that works on one access token. */
export const AccessTokenIdInput = z.strictObject({ id: tokenId }, { error: unknownParameters });

const defaultScopes: Scope[] = ['plants:create', 'plants:read'];
export const notTime = 'must be a date and time with a UTC offset (RFC 3339)';

/** The input of the procedure that creates an access token. */
export const NewAccessToken = z
  .object(
    {
      name: tokenName
        .refine((name) => namePattern.test(name), {
          error: 'must have 1 to 100 characters and no control characters',
        })
        .meta({ override: { minLength: 1, maxLength: 100 } }),
      scopes: z
        .array(z.enum(scopes, { error: `must be one of ${scopes.join(', ')}` }), 'must be a list')
        .min(1, 'must have at least one')
        .default(defaultScopes)
        .meta({ description: 'What the token may do', examples: [defaultScopes] }),
      expiresAt: z
        .string(notTime)
        .refine(isTime, notTime)
        .meta(dateTime('When the token expires. Default: never', '2027-11-21T09:30:00.000Z'))
        .transform(toTime)
        .optional(),
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewAccessToken' });

/** With line breaks or marks of text direction, a name could look like another name. */
export const namePattern = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u;

const time = z.iso.datetime({ offset: true });

/** Whether a text is a time with an offset (RFC 3339, in which `t` and `z` may be in lower case). */
export function isTime(text: string): boolean {
  return time.safeParse(text.toUpperCase()).success;
}

export function toTime(text: string): Date {
  return new Date(text.toUpperCase());
}

/** The response when a client creates an access token. */
export const CreatedAccessToken = z
  .object({
    id: tokenId,
    token: z.string().meta({
      description: 'The token that the client sends. The store cannot show it again',
      examples: ['plant_0123456789abcdef'],
    }),
  })
  .meta({ id: 'CreatedAccessToken' });

/** The owner of an access token, with the scopes and the expiry of the token. */
export const Identity = z
  .object({
    name: z.string().meta({
      description: 'The name of the access token, or the `sub` of the JWT',
      examples: ['garden-centre'],
    }),
    scopes: scopeNames,
    expiresAt,
    tokenId: tokenId
      .meta({
        description: 'The id of the access token; absent for a JWT and a token of a setting',
      })
      .optional(),
  })
  .meta({ id: 'Identity' });

export type AccessToken = z.output<typeof AccessToken>;
export type AccessTokenPage = z.output<typeof AccessTokenPage>;
export type ListAccessTokens = z.output<typeof ListAccessTokens>;
export type NewAccessToken = z.output<typeof NewAccessToken>;
export type Identity = z.output<typeof Identity>;
