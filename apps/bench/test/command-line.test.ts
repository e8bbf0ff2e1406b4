import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { help, readOptions } from '../src/options.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

it('measures every contender unless told otherwise', () => {
  expect(readOptions([])).toMatchObject({ mode: 'compare', quick: false });
  const { contenders } = readOptions(['--quick', '--only', 'hono,ours-rest']) ?? {};
  expect(contenders?.map(({ name }) => name)).toEqual(['ours-rest', 'hono']);
  expect(readOptions(['scaling', 'tables'])?.scalings).toEqual(['tables']);
});

it.each([
  [['faster'], 'there is no mode faster: choose from compare, alone, scaling, start-up, soak'],
  [['--only', 'express'], 'there is no contender express: choose from ours-rest, '],
  [['scaling', 'rows'], 'there is no scaling rows: choose from connections, tables, '],
  [['alone', 'tables'], 'alone takes no tables'],
  [['soak', '--minutes', '0.5'], '--minutes is 0.5: give a whole number from 1'],
  [['--fast'], "Unknown option '--fast'"],
])('refuses %j and says what there is', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

it('explains itself', () => {
  expect(readOptions(['--help'])).toBeUndefined();
  expect(help).toContain('npx pnpm bench scaling');
});

it('ends with exit code 1 where the command line is wrong', async () => {
  await expect(promisify(execFile)(process.execPath, [main, 'faster'])).rejects.toMatchObject({
    code: 1,
    stderr: `there is no mode faster: choose from compare, alone, scaling, start-up, soak\n\n${help}\n`,
  });
});
