import { Identity, Nothing, operations } from '@plant-store/schemas';
import { representable } from '../access-tokens/principals.ts';
import { define } from './trpc/define.ts';

export const whoAmI = define({
  type: 'query',
  scope: 'none',
  tool: 'Returns the name and the scopes of the access token.',
  rest: operations.whoAmI,
  summary: 'Describes the access token',
  returns: 'The name, the scopes and the expiry of the access token',
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
