import {
  AccessTokenIdInput,
  AccessTokenPage,
  CreatedAccessToken,
  Identity,
  ListAccessTokens,
  NewAccessToken,
  Nothing,
} from '@plant-store/schemas';
import * as z from 'zod';
import { representable } from '../access-tokens/principals.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

const scope = 'tokens:manage';

export const accessTokenProcedures = {
  listAccessTokens: define({
    type: 'query',
    scope,
    rest: { method: 'GET', path: '/access-tokens', status: 200 },
    summary: 'Lists access tokens',
    description:
      'The newest tokens come first. The list does not contain the secret tokens themselves.',
    returns: 'A page of access tokens',
    input: ListAccessTokens,
    output: AccessTokenPage,
    run: ({ ctx: { store, deadline, caller }, input }) =>
      store.accessTokens.list(input, { deadline, caller }),
  }),

  createAccessToken: define({
    type: 'mutation',
    scope,
    rest: { method: 'POST', path: '/access-tokens', status: 200 },
    summary: 'Creates an access token',
    description:
      'Shows the token once. The new token has at most the scopes of the token that makes the call, and ' +
      'expires no later. When the response is lost, list the tokens and revoke the new token.',
    returns: 'The access token',
    input: NewAccessToken,
    output: CreatedAccessToken,
    run: ({ ctx: { store, principal, deadline, caller }, input: { name, ...options } }) =>
      store.accessTokens.grant(principal, name, options, { deadline, caller }),
  }),

  revokeAccessToken: define({
    type: 'mutation',
    scope,
    rest: { method: 'DELETE', path: '/access-tokens/{id}', status: 204 },
    summary: 'Revokes an access token',
    description: 'Every instance rejects the token within 30 s. A token may revoke itself.',
    returns: 'The token is revoked',
    input: AccessTokenIdInput,
    output: z.void(),
    run: async ({ ctx: { store, deadline, caller }, input: { id } }) => {
      const isKnown = await store.accessTokens.revoke({ id }, { deadline, caller });
      if (isKnown) return;
      const message = `no access token has the id ${id}: check the id`;
      throw new PlantStoreError('accessTokenUnknown', message);
    },
  }),

  whoAmI: define({
    type: 'query',
    scope: 'none',
    tool: 'Returns the name and the scopes of the access token.',
    rest: { method: 'GET', path: '/whoami', status: 200 },
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
  }),
};
