import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { IdFromText, IdParameter } from '../src/id-from-text.ts';
import type { NewPlant } from '../src/plant.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const range = 'must be from -9223372036854775808 to 9223372036854775807';

const messagesFor = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input).error?.issues.map(({ message }) => message);

describe.each([
  ['IdFromText', IdFromText],
  ['IdParameter', IdParameter],
])('%s', (_name, schema) => {
  it('reads the decimal of every int64', () => {
    fc.assert(fc.property(int64, (id) => schema.parse(String(id)) === id));
  });

  it.each(['0', '-5', '9223372036854775807', '-9223372036854775808'])('reads %s', (text) => {
    expect(schema.parse(text)).toBe(BigInt(text));
  });

  it.each([
    ...[
      '',
      ' ',
      ' 5',
      '5 ',
      '5\n',
      '007',
      '-0',
      '+5',
      '1e3',
      '0x10',
      '0b1',
      '1.0',
      '1,000',
      '1_000',
    ],
    ...['five', '-', '--5', '5n', '٥', '−5', 'null', '__proto__'],
  ])('rejects %j, which is not a plain decimal', (text) => {
    expect(messagesFor(schema, text)).toEqual(['must be a whole number']);
  });

  it.each(['9223372036854775808', '-9223372036854775809', '9'.repeat(1_000_000)])(
    'names the bounds only for a whole number beyond them (%#)',
    (text) => {
      expect(messagesFor(schema, text)).toEqual([range]);
    },
  );

  it('gives a bigint', () => {
    expectTypeOf(schema.parse('1')).toEqualTypeOf<bigint>();
  });
});

describe('IdFromText', () => {
  it.each([5, 5n, null, ['5'], true])('rejects %s, which is not text', (value) => {
    expect(messagesFor(IdFromText, value)).toEqual(['must be a whole number']);
  });

  it('says when the id is missing', () => {
    expect(messagesFor(IdFromText, undefined)).toEqual(['is missing: it must be a whole number']);
  });
});

describe('IdParameter', () => {
  it('reads every int64 that is a bigint, and every safe integer', () => {
    fc.assert(fc.property(int64, (id) => IdParameter.parse(id) === id));
    fc.assert(fc.property(fc.maxSafeInteger(), (id) => IdParameter.parse(id) === BigInt(id)));
  });

  it.each([
    [2n ** 63n, 'must be an integer from -9223372036854775808 to 9223372036854775807'],
    [2 ** 53, 'must be a bigint, because a number beyond ±9007199254740991 is not exact'],
    [1.5, 'must be an integer from -9223372036854775808 to 9223372036854775807'],
    [null, 'must be an integer from -9223372036854775808 to 9223372036854775807'],
    [['5'], 'must be an integer from -9223372036854775808 to 9223372036854775807'],
    [undefined, 'is missing: it must be an integer'],
  ])('explains %s as Int64 does', (value, message) => {
    expect(messagesFor(IdParameter, value)).toEqual([message]);
  });

  it('may be optional', () => {
    const input = z.object({ after: IdParameter.optional() });
    expect(input.parse({})).toEqual({});
    expect(input.parse({ after: '5' })).toEqual({ after: 5n });
  });

  it('takes from a typed caller what the id of a new plant takes', () => {
    expectTypeOf<z.input<typeof IdParameter>>().toEqualTypeOf<z.input<typeof NewPlant>['id']>();
  });
});
