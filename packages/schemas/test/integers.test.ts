import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatJson, parseJson } from '../src/index.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const exact = (integer: bigint) =>
  Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;

describe('parseJson', () => {
  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9.223372036854775807e18', 2n ** 63n - 1n],
    ['9007199254740993000E-3', 9007199254740993n],
    ['1e3', 1000],
    ['10.00', 10],
    ['-0', -0],
    ['-0.0e5', 0],
    ['0e999999999999', 0],
    ['0.0000000000000000', 0],
  ])('reads the integer %s exactly', (text, integer) => {
    expect(parseJson(text)).toBe(integer);
  });

  it.each([
    ['1.5', 1.5],
    ['9007199254740991.4', Number.NaN],
    ['1.0000000000000000001', Number.NaN],
    ['1e-400', Number.NaN],
    ['123456789012345678e-1', Number.NaN],
  ])('never rounds the fraction %s to an integer', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it.each(['1e400', '1e1000000000', '-1e19', '9'.repeat(100_000)])(
    'reads an integer of more than 19 digits as a number (%#)',
    (text) => {
      expect(parseJson(text)).toBe(Number(text));
    },
  );

  it('reads every int64 exactly, with any exponent and any number of zeros', () => {
    const notation = fc.record({ integer: int64, zeros: fc.nat(30), shift: fc.nat(40) });
    const texts = notation.map(({ integer, zeros, shift }) => {
      const [, sign, digits = ''] = /(-?)(\d+)/.exec(`${integer}`) ?? [];
      const padded = digits.padStart(shift + 1, '0');
      const point = padded.length - shift;
      const whole = padded.slice(0, point).replace(/^0+(?=\d)/, '');
      const text = `${sign}${whole}.${padded.slice(point)}${'0'.repeat(zeros + 1)}E+${shift}`;
      return { text, integer };
    });
    fc.assert(
      fc.property(fc.array(texts), (numbers) => {
        const read = parseJson(`{"ids":[${numbers.map(({ text }) => text)}],"small":5e15}`);
        const ids = numbers.map(({ integer }) => exact(integer));
        expect(read).toEqual({ ids, small: 5_000_000_000_000_000 });
      }),
    );
  });

  it('reads the same values as JSON.parse, except for rounded numbers', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(formatJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('throws for every text for which JSON.parse throws, with the same error', () => {
    const part = fc.constantFrom(
      ...'0|-|1e5|9007199254740993|.5|e|+|"|\\|:|,|[|]|{|}|true|"1e5"'.split('|'),
    );
    const outcome = (parse: (text: string) => unknown, text: string) => {
      try {
        parse(text);
        return 'a value';
      } catch (error) {
        return error;
      }
    };
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        const text = parts.join('');
        expect(outcome(parseJson, text)).toEqual(outcome(JSON.parse, text));
      }),
    );
  });

  it('changes no string and no key that contains digits', () => {
    const value = {
      ' 9007199254740993,': ': 1e5',
      a: '\0\u20281e5',
      b: '"[1e5, 4503599627370496]',
    };
    const parsed = parseJson(`[1e5,${JSON.stringify(value)},4503599627370496]`);
    expect(parsed).toEqual([1e5, value, 2 ** 52]);
  });

  it('uses the last value of a key that occurs twice', () => {
    expect(parseJson('{"id":1,"id":9007199254740993}')).toEqual({ id: 9007199254740993n });
  });
});

describe('formatJson', () => {
  it('writes every value so that parseJson reads the same value', () => {
    fc.assert(
      fc.property(int64, fc.string(), (integer, string) => {
        const value = { id: exact(integer), string, list: [exact(integer), null] };
        expect(parseJson(formatJson(value))).toEqual(value);
      }),
    );
  });
});
