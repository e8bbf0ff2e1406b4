import * as z from 'zod';
import { Name, pageLimit, parameters, textOut, timeIn, timeOut } from './fields.ts';
import { body, output } from './plant.ts';

/** The scopes of access tokens. Each procedure names the scope that it needs. */
export const scopes = [
  'plants:create',
  'plants:read',
  'plants:update',
  'plants:delete',
  'tokens:manage',
  'webhooks:manage',
] as const;

export type Scope = (typeof scopes)[number];

/** Whether a text is the name of a scope. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}

const TokenId = z
  .string({ error: 'must be a string' })
  .regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits, as the list shows')
  .meta({ description: 'Identifies the token, and is not secret', examples: ['5f70bf18a0860070'] });

const name = 'The name of the client, which the log shows. No control characters';

// The type is not an enumeration, because later versions of the store may have further scopes.
const scopeNames = z.array(z.string()).meta({
  description: `What the token may do: ${scopes.map((scope) => `\`${scope}\``).join(', ')}`,
});

const expiresAt = timeOut('When the token expires; absent when it never does').optional();

/** The fields of an access token in a list. The token itself is secret, so the list does not contain it. */
export const AccessToken = output('AccessToken', {
  id: TokenId,
  name: textOut(name, 'garden-centre'),
  scopes: scopeNames,
  createdAt: timeOut('When the token was created'),
  expiresAt,
  lastUsedAt: timeOut('When the token was last used, up to 90 s too early').optional(),
  revokedAt: timeOut('When the token was revoked').optional(),
});

export const AccessTokenPage = output('AccessTokenPage', {
  tokens: z.array(AccessToken).meta({ description: 'Access tokens, the newest first' }),
  next: TokenId.meta({
    description: 'The `after` of the next page; absent on the last page',
  }).optional(),
});

export const ListAccessTokens = parameters({
  after: TokenId.meta({ description: 'The `next` of the page before' }).optional(),
  limit: pageLimit('tokens'),
}).prefault({});

/** The input of a procedure that works on one access token. */
export const AccessTokenIdInput = parameters({ id: TokenId });

const defaultScopes: Scope[] = ['plants:create', 'plants:read'];

/** The input of the procedure that creates an access token. */
export const NewAccessToken = body({
  name: Name.meta({ description: name, examples: ['garden-centre'] }),
  scopes: z
    .array(z.enum(scopes, { error: `must be one of ${scopes.join(', ')}` }), 'must be a list')
    .min(1, 'must have at least one')
    .default(defaultScopes)
    .meta({ description: 'What the token may do' }),
  expiresAt: timeIn('When the token expires. Default: never').optional(),
}).meta({ title: 'NewAccessToken' });

/** The response when a client creates an access token. */
export const CreatedAccessToken = output('CreatedAccessToken', {
  id: TokenId,
  token: textOut('The token that the client sends. The store cannot show it again'),
});

/** The owner of an access token, with the scopes and the expiry of the token. */
export const Identity = output('Identity', {
  name: textOut('The name of the access token, or the `sub` of the JWT', 'garden-centre'),
  scopes: scopeNames,
  expiresAt,
  tokenId: TokenId.meta({
    description: 'The id of the access token; absent for a JWT and for a token from a setting',
  }).optional(),
});

export type AccessToken = z.output<typeof AccessToken>;
export type AccessTokenPage = z.output<typeof AccessTokenPage>;
export type ListAccessTokens = z.output<typeof ListAccessTokens>;
export type NewAccessToken = z.output<typeof NewAccessToken>;
export type Identity = z.output<typeof Identity>;
