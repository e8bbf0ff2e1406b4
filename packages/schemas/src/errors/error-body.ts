import * as z from 'zod';

/** The body of every error response. */
export const ErrorBody = z
  .object({
    error: z
      .int32()
      .meta({ description: 'Numeric error value', override: { type: 'integer', format: 'int32' } }),
    message: z.string().meta({ description: 'Error text' }),
  })
  .meta({ id: 'Error' });

export type ErrorBody = z.output<typeof ErrorBody>;
