import { readFile } from 'node:fs/promises';
import { errorCatalogue } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';

const pages = await Promise.all(
  ['deploy', 'observe', 'maintain', 'reliability'].map((name) =>
    readFile(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8'),
  ),
);
const page = pages.join();
const named = (pattern: RegExp) => [...new Set([...page.matchAll(pattern)].map(([name]) => name))];

it('the pages for operators name only settings that exist', () => {
  const names = named(/\b(PLANT_STORE_[A-Z_]+|DATABASE_URL|LOG_LEVEL)\b/g);
  expect(names.length).toBeGreaterThan(5);
  expect(Object.keys(readEnv({}))).toEqual(expect.arrayContaining(names));
});

it('the pages for operators name only error codes of the catalogue', () => {
  // A number between back-ticks is a code of Postgres.
  const numbers = named(/(?<!`)\b[45]\d{4}\b(?!`)/g).map(Number);
  expect(numbers.length).toBeGreaterThan(5);
  const codes = Object.values(errorCatalogue).map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(numbers));
});
