import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { readEnv } from '../src/env.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const example = await read('.env.example');
const uncommented = parseEnv(example.replaceAll(/^#(?=[A-Z])/gm, ''));
const settings = Object.keys(readEnv({}));

it('the file .env.example has exactly the settings of the server', () => {
  expect(Object.keys(uncommented).toSorted()).toEqual(settings.toSorted());
});

it('the file .env.example has valid values', () => {
  expect(() => readEnv(uncommented)).not.toThrow();
});

it('the file .env.example sets nothing until a user edits the file', () => {
  expect(parseEnv(example)).toEqual({});
});

it.each(settings)('docs/configuration.md explains the setting %s', async (name) => {
  expect(await read('docs/configuration.md')).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'));
});
