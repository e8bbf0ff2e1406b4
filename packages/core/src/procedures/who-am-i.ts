import { Identity, Nothing, operations } from '@plant-store/schemas';
import { representable } from '../access-tokens/principals.ts';
import { define } from './trpc/define.ts';

/** Returns the sender's name, and the scopes and the expiry of the sender's access token. */
export const whoAmI = define({
  type: 'query',
  meta: {
    scope: 'none',
    tool: 'Returns the name and the scopes of the access token.',
    openapi: {
      ...operations.whoAmI,
      summary: 'Describes the access token',
      description: 'Needs a valid access token, and no scope.',
      tags: ['tokens'],
      successDescription: 'The name, the scopes and the expiry of the access token',
    },
  },
  input: Nothing,
  output: Identity,
  run: ({ ctx: { principal } }) => {
    const { name, scopes, tokenId } = principal;
    const expiresAt = representable(principal.expiresAt);
    return {
      ...{ name, scopes: [...scopes] },
      ...(expiresAt && { expiresAt }),
      ...(tokenId !== undefined && { tokenId }),
    };
  },
});
