import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as schemas from '../src/index.ts';

/** Values of each kind. Every schema rejects some of these values. */
const values = [
  ...[undefined, null, true, [], {}, { unknown: 1 }, Symbol('x'), new Date(Number.NaN)],
  ...['', ' ', 'x', '1.5', '\0', '\ud800', 'x'.repeat(1_000)],
  ...[Number.NaN, -Infinity, 0.5, -1, 1e6, 2 ** 53, 2 ** 63, -1e99, 1e99, 2n ** 64n],
];

/** A message follows the name of a field, as in "name is missing: it must be a string". */
const begins = /^((is missing: it )?must |has no parameter ")/;

/** The schemas of the inputs that clients send. */
const { NewPlant, NewPlants, ListPlants, CountPlants, PlantIdInput } = schemas;
const { ListPlantChanges, FollowPlantChanges, Nothing, IdFromText, IntegerText } = schemas;
const inputs = { NewPlant, NewPlants, ListPlants, CountPlants, PlantIdInput };
const others = { ListPlantChanges, FollowPlantChanges, Nothing, IdFromText, IntegerText };

describe.each(Object.entries({ ...inputs, ...others }))('%s', (_, schema) => {
  const object = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
  const fields = object instanceof z.ZodObject ? Object.keys(object.shape) : [];

  it.each(['the input', ...fields])('says which values of %s are valid', (field) => {
    const messages = values.flatMap((value) => {
      const { error } = schema.safeParse(field === 'the input' ? value : { [field]: value });
      return error?.issues.map(({ path, message }) => ({ path: path.join('.'), message })) ?? [];
    });
    expect(messages.length).toBeGreaterThan(0);
    for (const { path, message } of messages) expect(message, path).toMatch(begins);
  });
});

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const range = 'must be from -9223372036854775808 to 9223372036854775807';

const messagesFor = (input: unknown) =>
  schemas.IdFromText.safeParse(input).error?.issues.map(({ message }) => message);

describe('IdFromText', () => {
  it('reads the decimal text of every int64', () => {
    fc.assert(fc.property(int64, (id) => schemas.IdFromText.parse(String(id)) === id));
  });

  it.each([
    ...['', ' ', ' 5', '5 ', '5\n', '007', '-0', '+5', '1e3', '0x10', '1.0', '1,000', '1_000'],
    ...['five', '-', '--5', '5n', '٥', '−5', 'null', '__proto__'],
  ])('rejects %j, which is not a plain decimal', (text) => {
    expect(messagesFor(text)).toEqual(['must be a whole number']);
  });

  it.each(['9223372036854775808', '-9223372036854775809', '9'.repeat(1_000_000)])(
    'names the bounds of int64 when a whole number is outside the bounds (%#)',
    (text) => {
      expect(messagesFor(text)).toEqual([range]);
    },
  );

  it('returns a bigint', () => {
    expectTypeOf(schemas.IdFromText.parse('1')).toEqualTypeOf<bigint>();
  });
});
