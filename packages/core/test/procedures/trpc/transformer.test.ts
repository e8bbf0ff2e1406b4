import superjson from 'superjson';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { transformer } from '../../../src/procedures/trpc/transformer.ts';

const { deserialize } = transformer.input;

describe('the deserializer of tRPC inputs', () => {
  it.each([
    { id: 1n, name: 'x' },
    { id: -(2n ** 63n), name: 'x', tag: undefined },
    { id: 1, tag: 'kept', '': { tag: undefined } },
    { '': { '': 1n } },
    { id: 1, name: 'x', nested: { a: { b: 5n }, list: [1n, [2n]] } },
    undefined,
    5n,
    'text',
  ])('reads the output of superjson (%#)', (input) => {
    expect(deserialize(superjson.serialize(input))).toStrictEqual(input);
  });

  it('reads -0 as 0', () => {
    expect(deserialize(superjson.serialize({ id: -0 }))).toStrictEqual({ id: 0 });
  });

  it.each([true, '', ' 5 ', '0x10', '5.0', '+5', '007', '-0', 5, null, ['5'], '9'.repeat(1000)])(
    'does not read a bigint from %j',
    (id) => {
      const payload = { json: { id }, meta: { values: { id: ['bigint'] } } };
      expect(deserialize(payload)).toEqual({ id: expect.any(Symbol) });
    },
  );

  it.each([
    ['5', ['number']],
    ['Infinity', ['number']],
    [1e9, [['typed-array', 'Float64Array']]],
    [['a'], ['set']],
    ['/(a+)+$/', ['regexp']],
    ['2020-01-01', ['Date']],
    ['x', ['class', 'Plant']],
    ['x', 'constructor'],
    ['x', { deep: ['bigint'] }],
    ['text', ['undefined']],
    ['5', [['bigint']]],
  ])('does not accept that %j has the type %j', (value, claim) => {
    const payload = { json: { value }, meta: { values: { value: claim } } };
    expect(deserialize(payload)).toEqual({ value: expect.any(Symbol) });
  });

  it.each([
    '__proto__.polluted',
    '__proto__.toString',
    'constructor.prototype.toString',
    'toString',
    'missing',
    'a.b.c',
    '',
  ])('changes nothing when a claim has the path %j', (path) => {
    const original = Object.prototype.toString;
    onTestFinished(() => void Object.assign(Object.prototype, { toString: original }));
    const payload = { json: { a: 1 }, meta: { values: { [path]: ['undefined'] } } };
    expect(deserialize(payload)).toEqual({ a: 1 });
    expect(Object.prototype.toString).toBe(original);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  it('does not convert values under keys with a dot or a backslash', () => {
    const payload = superjson.serialize({ 'a.b': { 'c\\d': 5n }, 'c\\d': 5n });
    expect(deserialize(payload)).toEqual({ 'a.b': { 'c\\d': '5' }, 'c\\d': '5' });
  });

  it('rejects a path of more than 10 keys', () => {
    const payload = (keys: number) => {
      const path = Array(keys).fill('a').join('.');
      return { json: {}, meta: { values: { [path]: ['bigint'] } } };
    };
    expect(deserialize(payload(10))).toEqual({});
    expect(() => deserialize(payload(11))).toThrow(
      expect.objectContaining({ code: 40001, message: expect.stringContaining('10 keys') }),
    );
  });

  it.each([null, 5, [], {}, { id: 1, name: 'x' }])(
    'throws invalidInput when the input %j is not superjson',
    (input) => {
      expect(() => deserialize(input)).toThrow(
        expect.objectContaining({ code: 40001, message: expect.stringContaining('superjson') }),
      );
    },
  );
});

describe('the serializer of tRPC outputs', () => {
  class Text {
    readonly text = 'x';
  }

  it.each([
    { name: 'x', tag: 'y' },
    {},
    { id: 5n, name: 'x' },
    { name: 'x', createdAt: new Date(0) },
    { a: undefined },
    Object.assign(Object.create(null), { name: 'x' }),
    new Text(),
    new Date(0),
    new Map([['a', 'b']]),
    ['a', 'b'],
    'text',
    null,
    undefined,
  ])('writes values that superjson can read (%#)', (output) => {
    const written = transformer.output.serialize(output);
    expect(written).toEqual(superjson.serialize(output));
    expect(transformer.output.deserialize(JSON.parse(JSON.stringify(written)))).toEqual(
      superjson.deserialize(superjson.serialize(output)),
    );
  });

  it('does not use superjson for an object that contains only strings', () => {
    const walk = vi.spyOn(superjson, 'serialize');
    onTestFinished(() => walk.mockRestore());
    expect(transformer.output.serialize({ name: 'x', tag: 'y' })).toEqual({
      json: { name: 'x', tag: 'y' },
    });
    expect(walk).not.toHaveBeenCalled();
    transformer.output.serialize({ name: 'x', id: 1 });
    expect(walk).toHaveBeenCalledOnce();
  });
});
