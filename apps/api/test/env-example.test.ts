import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { readEnv } from '../src/env.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const example = await read('.env.example');
const uncommented = parseEnv(example.replaceAll(/^#(?=[A-Z])/gm, ''));
const settings = Object.keys(readEnv({}));

it('has every setting of the server and no others', () => {
  expect(Object.keys(uncommented).toSorted()).toEqual(settings.toSorted());
});

it('has values that are valid', () => {
  expect(() => readEnv(uncommented)).not.toThrow();
});

it('sets nothing until a user edits it', () => {
  expect(parseEnv(example)).toEqual({});
});

it.each(settings)('has the setting %s, which docs/configuration.md explains', async (name) => {
  expect(await read('docs/configuration.md')).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'));
});
