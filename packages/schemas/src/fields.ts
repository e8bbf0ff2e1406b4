import * as z from 'zod';
import { shorten } from './errors.ts';
import { defaultPageSize, maxPageSize } from './limits.ts';
import { idDescription, output } from './plant.ts';

/** Makes the schema of parameters. An unknown parameter is an error. */
export function parameters<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has no parameter ${JSON.stringify(shorten(String(issue.keys[0])))}`
        : 'must be an object',
  });
}

/** The input of a procedure without parameters. */
export const Nothing = parameters({}).prefault({});

/** The id of a plant in a response. */
export function idOut(description = idDescription) {
  const override = { type: 'integer', format: 'int64' } as const;
  return z.bigint().meta({ description, override, examples: [4096] });
}

/** Makes a schema for an integer in a range. All errors of the schema have the same message. */
export function integerBetween(min: number, max: number) {
  const error = `must be an integer from ${min} to ${max}`;
  // Without `abort`, an integer beyond ±(2^53−1) would get the same message twice.
  return z.int({ error, abort: true }).min(min, { error }).max(max, { error });
}

/** The parameter that limits a page of a list. */
export function pageLimit(things: string) {
  return integerBetween(1, maxPageSize)
    .default(defaultPageSize)
    .meta({ description: `The maximum number of ${things} to return` });
}

/** A text in a response. */
export function textOut(description: string, ...examples: string[]) {
  return z.string().meta({ description, ...(examples.length > 0 && { examples }) });
}

const dateTime = { type: 'string', format: 'date-time' } as const;

/** A time in a response. */
export function timeOut(description: string) {
  return z.date().meta({ description, override: dateTime });
}

const notTime = { error: 'must be a date and time with a UTC offset (RFC 3339)' };

/** A time in an input: a text with a UTC offset. RFC 3339 allows `t` and `z` in lower case. */
export function timeIn(description: string) {
  return z
    .string(notTime)
    .toUpperCase()
    .pipe(z.iso.datetime({ offset: true, ...notTime }))
    .transform((text) => new Date(text))
    .meta({ description, override: dateTime });
}

/** The name of a token or a webhook in an input. */
export const Name = z
  .string('must be a string')
  // Line breaks and marks of text direction could make a name look like another name.
  .refine((name) => /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u.test(name), {
    error: 'must have 1 to 100 characters and no control characters',
  })
  .meta({ override: { minLength: 1, maxLength: 100 } });

const notCursor = { error: 'must be a cursor: the `next` of a response' };

/** A cursor of the feed of changes in an input. */
export const Cursor = z.string(notCursor).max(1_000, notCursor);

export const cursorExample = 'NmM3YWFiMDFkMmU1NGYxYSA4MTM';

/** The body of every error response over REST. */
export const ErrorBody = output('Error', {
  error: z
    .int32()
    .meta({ description: 'Numeric error value', override: { type: 'integer', format: 'int32' } }),
  message: textOut('Error text'),
});
