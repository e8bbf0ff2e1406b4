import * as z from 'zod';
import { scopes } from './scopes.ts';
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
    // The type is not an enumeration, because later versions may have further scopes.
    scopes: z.array(z.string()).meta({
      description: `What the token may do: ${scopes.map((scope) => `\`${scope}\``).join(', ')}`,
      examples: [['plants:create', 'plants:read']],
    }),
    expiresAt: z
      .date()
      .meta({
        description: 'When the token expires, in UTC (RFC 3339); absent when it never does',
        override: { type: 'string', format: 'date-time', examples: ['2027-11-21T09:30:00.000Z'] },
      })
      .optional(),
  })
  .meta({ id: 'Identity' });

export type Identity = z.output<typeof Identity>;
