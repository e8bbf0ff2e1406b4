import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as schemas from '../src/index.ts';

it('keeps the error codes that clients rely on', () => {
  expect(schemas.errorKinds.map((kind) => schemas.errorCatalogue[kind].code)).toEqual(
    expect.arrayContaining([
      40000, 40001, 40002, 40100, 40101, 40300, 40400, 40401, 40402, 40403, 40500, 40800, 40900,
      40901, 41000, 41200, 41300, 41500, 41700, 42900, 43100, 50000, 50001, 50100, 50300, 50301,
      50302, 50303,
    ]),
  );
});

/** Every schema rejects some of these values. */
const values = [
  ...[undefined, null, true, [], {}, { unknown: 1 }, Symbol('x'), new Date(Number.NaN)],
  ...['', ' ', 'x', '1.5', '\0', '\ud800', 'x'.repeat(1_000)],
  ...[Number.NaN, -Infinity, 0.5, -1, 1e6, 2 ** 53, 2 ** 63, -1e99, 1e99, 2n ** 64n],
];

/** A message follows the name of a field, as in "name is missing: it must be a string". */
const begins = /^((is missing: it )?must |has no parameter ")/;

const { NewPlant, NewPlants, ListPlants, CountPlants, PlantIdInput } = schemas;
const { ListPlantChanges, FollowPlantChanges, Nothing, IdFromText, IntegerText } = schemas;
const inputs = { NewPlant, NewPlants, ListPlants, CountPlants, PlantIdInput };
const others = { ListPlantChanges, FollowPlantChanges, Nothing, IdFromText, IntegerText };

describe.each(Object.entries({ ...inputs, ...others }))('%s', (_, schema) => {
  const object = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
  const fields = object instanceof z.ZodObject ? Object.keys(object.shape) : [];

  it.each(['the input', ...fields])('says in each error which values of %s are valid', (field) => {
    const found = values.flatMap((value) =>
      messages(schema, field === 'the input' ? value : { [field]: value }),
    );
    expect(found.length).toBeGreaterThan(0);
    for (const message of found) expect(message.replace(/^[\w.]*: /, '')).toMatch(begins);
  });
});

/** Returns each message about an input, after the name of the field. */
function messages(schema: Pick<z.ZodType, 'safeParse'>, input: unknown): string[] {
  const { issues } = schema.safeParse(input).error ?? { issues: [] };
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];
const range = `from ${minimum} to ${maximum}`;

describe('the id of a new plant', () => {
  const notExact = 'id: must be a bigint, because a number beyond ±9007199254740991 is not exact';

  it.each([0, -0, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, minimum, maximum])(
    'may be %s',
    (id) => {
      expect(NewPlant.parse({ id, name: 'Monstera' }).id).toBe(BigInt(id));
    },
  );

  it.each([
    ...[maximum + 1n, minimum - 1n, 0.5, Number.NaN, Infinity, 'one', '1.5', true, null, [], {}],
    ...[2 ** 63, -(2 ** 63)],
  ])('must not be %s', (id) => {
    expect(messages(NewPlant, { id, name: 'x' })).toEqual([`id: must be an integer ${range}`]);
  });

  it.each([
    ['1', `id: must be an integer ${range}: send it without quotes`],
    [2 ** 53, notExact],
    [-(2 ** 53), notExact],
    [2 ** 62, notExact],
  ])('must not be %j, and the error says how to send the integer', (id, message) => {
    expect(messages(NewPlant, { id, name: 'Monstera' })).toEqual([message]);
  });
});

describe('the texts of a new plant', () => {
  it.each(['\0', 'a\0b', '\ud800', '\udc00\ud800', '🪴\ud83e'])(
    'must be texts that Postgres can store (%#)',
    (text) => {
      expect(messages(NewPlant, { id: 1, name: text, tag: text })).toEqual([
        'name: must not contain U+0000 or a lone surrogate',
        'tag: must not contain U+0000 or a lone surrogate',
      ]);
    },
  );
});

it('infers the types of a new plant', () => {
  type Texts = { name: string; tag?: string | undefined };
  expectTypeOf<schemas.NewPlant>().toExtend<Texts & { id: bigint }>();
  expectTypeOf<z.input<typeof NewPlant>['id']>().toEqualTypeOf<bigint | number>();
  expectTypeOf(IdFromText.parse('1')).toEqualTypeOf<bigint>();
});

describe('the parameters of a list', () => {
  it.each([
    [undefined, { limit: 100 }],
    [
      { tag: '', after: -5, limit: 1 },
      { tag: '', after: -5n, limit: 1 },
    ],
    [
      { after: `${minimum}`, limit: 1000 },
      { after: minimum, limit: 1000 },
    ],
  ])('may be %j', (input, expected) => {
    expect(ListPlants.parse(input)).toEqual(expected);
  });

  const after = `after: must be the \`next\` of a page, or an integer ${range}`;

  const limit = 'limit: must be an integer from 1 to 1000';
  const notPage: [unknown, string][] = [
    ...[0, 1001, 1.5, '5'].map((value): [unknown, string] => [{ limit: value }, limit]),
    ...[0.5, '007', 2 ** 53].map((value): [unknown, string] => [{ after: value }, after]),
    [{ 'a"': 1 }, ': has no parameter "a\\""'],
    ['tag', ': must be an object'],
  ];

  it.each(notPage)('must not be %j', (input, message) => {
    expect(messages(ListPlants, input)).toEqual([message]);
  });
});

describe('the text of an id', () => {
  it('may be the decimal of every int64', () => {
    const int64 = fc.bigInt({ min: minimum, max: maximum });
    fc.assert(fc.property(int64, (id) => IdFromText.parse(String(id)) === id));
  });

  it.each([
    ...['', ' ', ' 5', '5 ', '5\n', '007', '-0', '+5', '1e3', '0x10', '1.0', '1,000', '1_000'],
    ...['five', '-', '--5', '5n', '٥', '−5', 'null', '__proto__'],
  ])('must be a plain decimal, and not %j', (text) => {
    expect(messages(IdFromText, text)).toEqual([': must be a whole number']);
  });

  it.each(['9223372036854775808', '-9223372036854775809', '9'.repeat(1_000_000)])(
    'must be within int64 (%#)',
    (text) => {
      expect(messages(IdFromText, text)).toEqual([`: must be ${range}`]);
    },
  );
});
