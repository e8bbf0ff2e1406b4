import { readFile } from 'node:fs/promises';
import { errorCatalogue } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';

const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
const named = (pattern: RegExp) => [...new Set([...page.matchAll(pattern)].map(([name]) => name))];

it('names settings that exist, and no others', () => {
  const names = named(/\b(PLANT_STORE_[A-Z_]+|DATABASE_URL|LOG_LEVEL)\b/g);
  expect(names.length).toBeGreaterThan(5);
  expect(Object.keys(readEnv({}))).toEqual(expect.arrayContaining(names));
});

it('names errors that are in the catalogue, and no others', () => {
  // Between back-ticks they are the database's.
  const numbers = named(/(?<!`)\b[45]\d{4}\b(?!`)/g).map(Number);
  expect(numbers.length).toBeGreaterThan(5);
  const codes = Object.values(errorCatalogue).map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(numbers));
});
