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
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9007199254740993.0', 9007199254740993n],
    ['9.223372036854775807e18', 2n ** 63n - 1n],
    ['9007199254740993000E-3', 9007199254740993n],
    ['1e3', 1000],
    ['10.00', 10],
    ['-0', -0],
    ['-0.0e5', 0],
    ['0e999999999999', 0],
    ['0.0e0', 0],
    ['0e-5', 0],
    ['-0.0e-1', 0],
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
    'reads an integer far beyond int64 as a number (%#)',
    (text) => {
      expect(parseJson(text)).toBe(Number(text));
    },
  );

  it('reads every int64 exactly, with any exponent and any number of zeros', () => {
    const notation = fc.record({ integer: int64, zeros: fc.nat(30), shift: fc.nat(40) });
    fc.assert(
      fc.property(notation, ({ integer, zeros, shift }) => {
        const sign = integer < 0n ? '-' : '';
        const digits = String(integer)
          .replace('-', '')
          .padStart(shift + 1, '0');
        const [whole, fraction] = [
          digits.slice(0, -shift || undefined),
          shift ? digits.slice(-shift) : '',
        ];
        const mantissa = `${whole.replace(/^0+(?=\d)/, '')}.${fraction}${'0'.repeat(zeros + 1)}`;
        expect(Object.is(parseJson(`${sign}${mantissa}e+${shift}`), -0)).toBe(false);
        expect(parseJson(`{"id":${sign}${mantissa}E${shift}}`)).toEqual({ id: exact(integer) });
      }),
    );
  });

  it('reads each short number with an exponent exactly, beside other long numbers', () => {
    const number = fc.record({ mantissa: fc.integer(), exponent: fc.nat(9) });
    const texts = fc.array(number.map(({ mantissa, exponent }) => `${mantissa}e${exponent}`));
    fc.assert(
      fc.property(texts, int64, (shorts, long) => {
        const expected = shorts.map((text) => {
          const [mantissa = '', exponent] = text.split('e');
          return exact(BigInt(mantissa) * 10n ** BigInt(Number(exponent)));
        });
        const text = `[${[...shorts, long, '5e15', '4503599627371e3', '-9e15']}]`;
        expect(parseJson(text)).toEqual([
          ...[...expected, exact(long), 5_000_000_000_000_000],
          ...[4_503_599_627_371_000, -9_000_000_000_000_000],
        ]);
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
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        const [given, expected] = [parseJson, JSON.parse].map((parse) => {
          try {
            parse(parts.join(''));
            return 'a value';
          } catch (error) {
            return error;
          }
        });
        expect(given).toEqual(expected);
      }),
    );
  });

  it('reads any depth of nesting', () => {
    const depth = 100_000;
    expect(() => parseJson(`${'['.repeat(depth)}1e1${']'.repeat(depth)}`)).not.toThrow();
  });

  it('changes no string and no key that contains digits', () => {
    const value = {
      ' 9007199254740993,': ': 1e5',
      a: '\0\u20281e5',
      b: '"[1e5, 4503599627370496]',
    };
    expect(parseJson(`[1e5,${JSON.stringify(value)},4503599627370496]`)).toEqual([
      1e5,
      value,
      2 ** 52,
    ]);
    expect(() => parseJson('{1e5:1}')).toThrow(SyntaxError);
  });

  it('uses the last value of a key that occurs twice', () => {
    expect(parseJson('{"id":1,"id":9007199254740993}')).toEqual({ id: 9007199254740993n });
    expect(parseJson('{"id":9007199254740993,"id":1}')).toEqual({ id: 1 });
  });

  it.each(['', '{', 'nul', '01', '"\n"', '\ufeff1'])(
    'throws a SyntaxError for %j, which is not JSON',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );
});

describe('formatJson', () => {
  it('writes one line by default, and indents each level with `indent`', () => {
    const value = { ids: [2n ** 63n - 1n] };
    expect(formatJson(value)).toBe('{"ids":[9223372036854775807]}');
    expect(formatJson(value, 1)).toBe('{\n "ids": [\n  9223372036854775807\n ]\n}');
  });

  it('writes every value so that parseJson reads the same value', () => {
    fc.assert(
      fc.property(int64, fc.string(), (integer, string) => {
        const value = { id: exact(integer), string, list: [exact(integer), null] };
        expect(parseJson(formatJson(value))).toEqual(value);
      }),
    );
  });
});
