import { CreateResults, Identity, PlantPage, StoredPlant } from '@plant-store/schemas';
import superjson from 'superjson';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { resultWriter } from '../../src/surfaces/trpc/result-writer.ts';

const plant = {
  id: -9223372036854775808n,
  name: 'Monstera "deliciosa" 🌿',
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
};
const plants = [plant, { ...plant, id: 1n, tag: '', createdAt: new Date(0) }];
const Tree = z.object({
  ids: z.array(z.bigint()),
  at: z.array(z.object({ 'a.\\"b': z.date(), isKnown: z.boolean() })),
});

const Choice = z.array(
  z.union([z.object({ a: z.bigint(), b: z.int() }), z.object({ a: z.date() })]),
);

const outputs: [name: string, schema: z.ZodType, output: unknown][] = [
  ['a page of plants', PlantPage, { plants, next: 5n }],
  ['the last page', PlantPage, { plants }],
  ['a page without plants', PlantPage, { plants: [] }],
  ['a plant', StoredPlant, plant],
  [
    'results of creates',
    CreateResults,
    {
      results: [
        { id: 9007199254740993n, result: 'created' },
        { id: 2n, error: 40900, message: 'id 2 "belongs" to another plant' },
      ],
    },
  ],
  ['an identity', Identity, { name: 'Ann', scopes: ['plants:read'], expiresAt: new Date(0) }],
  ['a choice of lists', z.array(z.union([z.array(z.bigint()), z.string()])), [[1n], 'a']],
  ['a choice with several types of a property', Choice, [{ a: 1n, b: 1 }, { a: new Date(0) }]],
  ['nothing', z.void(), undefined],
  ['a list', z.array(StoredPlant), plants],
  ['a list of strings', z.array(z.string()), ['a', 'b']],
  ['lists within objects', Tree.pick({ ids: true }), { ids: [1n, 2n] }],
  ['a name with a dot', Tree, { ids: [1n], at: [{ 'a.\\"b': new Date(0), isKnown: true }] }],
  ['numbers', z.array(z.number()), [1, 2.5]],
  ['a set', z.array(z.set(z.bigint())), [new Set([1n])]],
];

it.each(outputs)('writes %s in the same bytes as superjson', async (_name, schema, output) => {
  const expected = superjson.serialize(schema.parse(output));
  const write = resultWriter(schema, superjson.serialize);
  expect(await write(schema.parse(output))).toBe(JSON.stringify(expected));
});
