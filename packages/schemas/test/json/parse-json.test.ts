import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { formatJson } from '../../src/json/format-json.ts';
import { isExact, parseJson } from '../../src/json/parse-json.ts';

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

  it('reads an id exactly, even when the object also has other numbers and strings', () => {
    const others: Record<string, unknown> = {
      '1e3': 1000,
      '12.50': 12.5,
      '1.0000000000000000001': Number.NaN,
      '99999999999999999999': 1e20,
      '9007199254740992': 9007199254740992n,
      '1234567890123456': 1234567890123456,
      '"9007199254740993"': '9007199254740993',
      '", 9007199254740993"': ', 9007199254740993',
      '[-9007199254740993]': [-9007199254740993n],
      '{"id":9007199254740993}': { id: 9007199254740993n },
    };
    const value = fc.oneof(
      int64.map((integer) => [String(integer), exact(integer)] as const),
      fc.string().map((string) => [JSON.stringify(string), string] as const),
      fc.constantFrom(...Object.entries(others)),
    );
    const key = fc.oneof(fc.constantFrom('id', '__proto__', '7'), fc.string());
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value)), (members) => {
        const text = members.map(([key, [json]]) => `${JSON.stringify(key)} :${json}`).join(' ,');
        const expected = Object.fromEntries(members.map(([key, [, value]]) => [key, value]));
        const object = parseJson(`{${text}}`);
        expect(object).toEqual(expected);
        expect(Object.keys(Object(object))).toEqual(Object.keys(expected));
        expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
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

  it('throws a SyntaxError for numbers that are nested too deeply for a reviver', () => {
    const levels = 100_000;
    const text = `${'['.repeat(levels)}1e0${']'.repeat(levels)}`;
    const error = {
      name: 'SyntaxError',
      message: 'nested too deeply',
      cause: expect.any(RangeError),
    };
    expect(() => parseJson(text)).toThrow(expect.objectContaining(error));
  });

  describe('in an engine without access to the source text', () => {
    const { parse } = JSON;
    const id = { id: 9007199254740993n };

    beforeEach(() => {
      const spy = vi
        .spyOn(JSON, 'parse')
        .mockImplementation((text, reviver) =>
          parse(text, reviver && ((key, value) => reviver.call({}, key, value))),
        );
      onTestFinished(() => spy.mockRestore());
    });

    it.each([
      ['{"id":1000,"name":"-1E3"}', { id: 1000, name: '-1E3' }],
      ['{"id":9007199254740993,"name":"x"}', { id: 9007199254740993n, name: 'x' }],
      ['{"name":"x", "id":\n-9223372036854775808 }', { id: -(2n ** 63n), name: 'x' }],
      ['{"height":1234567890123.5,"id":9007199254740993}', { ...id, height: 1234567890123.5 }],
      ['{"id":9007199254740993,"ids":[1,2.5]}', { ...id, ids: [1, 2.5] }],
    ])('reads %s, which has at most one long integer', (text, value) => {
      expect(parseJson(text)).toEqual(value);
    });

    it.each([
      ['1e3', 1000],
      ['9007199254740993', 9007199254740993n],
      ['[9007199254740993]', [9007199254740993n]],
      ['{"id":{"id":9007199254740993}}', { id }],
      ['{"id":90071992547409930e-1}', id],
      ['{"id":9007199254740993.0}', id],
      ['{"id":12345678901234567890}', { id: 12345678901234567000 }],
      ['{"id":9007199254740991}', { id: 9007199254740991 }],
      [
        '{"id":9007199254740993,"name":"1e3, \\"9007199254740993"}',
        { ...id, name: '1e3, "9007199254740993' },
      ],
      ['{"id":9007199254740993,"id2":9007199254740995}', { ...id, id2: 9007199254740995n }],
    ])('reads %s', (text, value) => {
      expect(parseJson(text)).toEqual(value);
    });

    it.each(['{9007199254740993:1}', '01e3', '1e3.', '[1e3', '"1e3'])(
      'throws a SyntaxError for %s',
      (text) => {
        expect(() => parseJson(text)).toThrow(SyntaxError);
      },
    );
  });

  it('uses the last value of a key that occurs twice', () => {
    expect(parseJson('{"id":1,"id":9007199254740993}')).toEqual({ id: 9007199254740993n });
    expect(parseJson('{"id":9007199254740993,"id":1}')).toEqual({ id: 1 });
  });

  it('does not change the prototype when a key is named __proto__', () => {
    const value = parseJson('{"id":1e0,"__proto__":{"name":"x"}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('reads a number of a million digits without a noticeable delay', () => {
    const digits = `1${'0'.repeat(500_000)}1${'0'.repeat(500_000)}`;
    expect(parseJson(digits)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each(['', '{', 'nul', '01', '"\n"', '\ufeff1'])(
    'throws a SyntaxError for %j, which is not JSON',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );
});

describe('isExact', () => {
  it.each([
    '',
    '{"id":123456789012345,"name":"e 1"}',
    '0.1234567890123',
    '{"name":"Lot 2026010100000001","tag":"\\" 1e5"}',
  ])('returns true for %j', (text) => {
    expect(isExact(text)).toBe(true);
  });

  it.each([
    '1234567890123456',
    '0.12345678901234567',
    '1e3',
    '1E3',
    '{"id":5e0}',
    '{"name":"\\\\","id":1e5}',
  ])('returns false for %j', (text) => {
    expect(isExact(text)).toBe(false);
  });
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
