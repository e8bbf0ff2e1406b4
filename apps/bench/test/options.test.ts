import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { help, readOptions } from '../src/options.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

it('reads the mode, the contenders and the scalings, and by default compares all contenders', () => {
  expect(readOptions([])).toMatchObject({ mode: 'compare', quick: false });
  const { contenders } = readOptions(['--quick', '--only', 'hono,ours-rest']) ?? {};
  expect(contenders?.map(({ name }) => name)).toEqual(['ours-rest', 'hono']);
  expect(readOptions(['scaling', 'tables'])?.scalings).toEqual(['tables']);
});

it('reads the commit to compare with and the cases', () => {
  expect(readOptions(['against', 'HEAD~1', 'trpc', 'rest'])).toMatchObject({
    mode: 'against',
    commit: 'HEAD~1',
    cases: ['rest', 'trpc'],
  });
  expect(readOptions(['against', 'HEAD'])?.cases).toEqual([
    'rest',
    'rest-small',
    'trpc',
    'trpc-10',
  ]);
});

it('sends ids of 19 digits unless small ones are asked for', () => {
  expect(readOptions([])?.idOrder).toBe('int64');
  expect(readOptions(['--ids', 'small'])?.idOrder).toBe('sequential');
});

it.each([
  [
    ['faster'],
    'there is no mode faster: choose from compare, against, reading, alone, scaling, bulk, start-up, soak, citus, timing',
  ],
  [['--only', 'express'], 'there is no contender express: choose from ours-rest, '],
  [['scaling', 'rows'], 'there is no scaling rows: choose from connections, tables, '],
  [['against'], 'against needs a commit, such as: npx -y pnpm bench against HEAD~1'],
  [['against', 'HEAD', 'grpc'], 'there is no case grpc: choose from rest, rest-small, '],
  [['--ids', 'huge'], 'there is no size of ids huge: choose from large, small'],
  [['alone', 'tables'], 'alone takes no arguments, but got tables'],
  [['soak', '--minutes', '0.5'], '--minutes is 0.5, but must be a whole number of at least 1'],
  [['--fast'], "Unknown option '--fast'"],
])('rejects %j with a message that says what is valid', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

it('returns undefined for --help', () => {
  expect(readOptions(['--help'])).toBeUndefined();
  expect(help).toContain('npx -y pnpm bench scaling');
});

it('exits with code 1 and prints the help for an invalid command line', async () => {
  await expect(promisify(execFile)(process.execPath, [main, 'faster'])).rejects.toMatchObject({
    code: 1,
    stderr: `there is no mode faster: choose from compare, against, reading, alone, scaling, bulk, start-up, soak, citus, timing\n\n${help}\n`,
  });
});
