import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { IdFromText } from '../src/index.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const range = 'must be from -9223372036854775808 to 9223372036854775807';

const messagesFor = (input: unknown) =>
  IdFromText.safeParse(input).error?.issues.map(({ message }) => message);

describe('IdFromText', () => {
  it('reads the decimal text of every int64', () => {
    fc.assert(fc.property(int64, (id) => IdFromText.parse(String(id)) === id));
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
    expectTypeOf(IdFromText.parse('1')).toEqualTypeOf<bigint>();
  });
});
