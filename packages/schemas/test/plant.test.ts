import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { NewPlant, Plant } from '../src/index.ts';

const messagesFor = (input: unknown) => {
  const { error } = NewPlant.safeParse(input);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
};

describe('NewPlant', () => {
  it.each([0, -0, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'accepts the number %s as an id',
    (id) => {
      expect(NewPlant.parse({ id, name: 'Monstera' }).id).toBe(BigInt(id));
    },
  );

  it.each([-(2n ** 63n), 2n ** 63n - 1n])('accepts the bigint %s as an id', (id) => {
    expect(NewPlant.parse({ id, name: 'Monstera' }).id).toBe(id);
  });

  it.each([
    2n ** 63n,
    -(2n ** 63n) - 1n,
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    'one',
    '1.5',
    true,
    null,
    [],
    {},
    2 ** 63,
    -(2 ** 63),
  ])('rejects %s as an id', (id) => {
    expect(messagesFor({ id, name: 'Monstera' })).toEqual([
      'id: must be an integer from -9223372036854775808 to 9223372036854775807',
    ]);
  });

  it.each(['1', '-9223372036854775808'])('says how to send the id %j', (id) => {
    expect(messagesFor({ id, name: 'Monstera' })).toEqual([
      'id: must be an integer from -9223372036854775808 to 9223372036854775807: send it without quotes',
    ]);
  });

  it.each([2 ** 53, -(2 ** 53), 2 ** 62])(
    'rejects the number %s as an id, because JavaScript may have rounded it',
    (id) => {
      expect(messagesFor({ id, name: 'Monstera' })).toEqual([
        'id: must be a bigint, because a number beyond ±9007199254740991 is not exact',
      ]);
    },
  );

  it.each(['\0', 'a\0b', '\ud800', '\udc00\ud800', '🪴\ud83e'])(
    'rejects text that Postgres cannot store (%#)',
    (text) => {
      expect(messagesFor({ id: 1, name: text, tag: text })).toEqual([
        'name: must not contain U+0000 or a lone surrogate',
        'tag: must not contain U+0000 or a lone surrogate',
      ]);
    },
  );

  it('reports every invalid field', () => {
    expect(messagesFor({ tag: null })).toEqual([
      'id: is missing: it must be an integer',
      'name: is missing: it must be a string',
      'tag: must be a string',
    ]);
  });

  it('infers the types of the input and of the output', () => {
    type Texts = { name: string; tag?: string | undefined };
    expectTypeOf<Plant>().toExtend<Texts>();
    expectTypeOf<NewPlant>().toExtend<Texts & { id: bigint }>();
    expectTypeOf<z.input<typeof NewPlant>>().toExtend<Texts>();
    expectTypeOf<z.input<typeof NewPlant>['id']>().toEqualTypeOf<bigint | number>();
  });
});

describe('Plant', () => {
  it('a Plant has no id', () => {
    expect(Plant.parse({ id: 1n, name: 'x' })).toEqual({ name: 'x' });
  });
});
