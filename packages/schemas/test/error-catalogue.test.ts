import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ErrorBody } from '../src/error-body.ts';
import { type ErrorKind, errorCatalogue, httpStatus } from '../src/error-catalogue.ts';

const kinds = Object.keys(errorCatalogue) as ErrorKind[];

it('has the numbers that clients rely on', () => {
  expect(kinds.map((kind) => errorCatalogue[kind].error)).toEqual([
    40000, 40001, 40002, 40100, 40101, 40400, 40500, 40800, 40900, 41300, 41500, 41700, 42900,
    43100, 50000, 50300, 50301, 50302, 50303,
  ]);
});

it.each(kinds)('gives %s a number that starts with its HTTP status', (kind) => {
  expect(String(errorCatalogue[kind].error).slice(0, 3)).toBe(String(httpStatus(kind)));
  expect(httpStatus(kind)).toBeGreaterThanOrEqual(400);
});

it('is what the page of the docs lists', async () => {
  const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const rows = kinds.map((kind) => {
    const { error, when } = errorCatalogue[kind];
    return `| ${error} | ${httpStatus(kind)} | ${when} |`;
  });
  expect(page.match(/^\| \d{5} .*$/gm)).toEqual(rows);
});

it('describes a body of an int32 and a text', () => {
  expect(ErrorBody.safeParse({ error: 2 ** 31, message: '' }).success).toBe(false);
  expect(ErrorBody.safeParse({ error: 40000, message: 'x' }).success).toBe(true);
});
