import * as z from 'zod';
import { expiresAt, scopeNames, tokenId } from './access-tokens.ts';
import { unknownParameters } from './stored-plant.ts';

/** The input of a procedure without parameters. */
export const Nothing = z.strictObject({}, { error: unknownParameters }).prefault({});

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

export type Identity = z.output<typeof Identity>;
