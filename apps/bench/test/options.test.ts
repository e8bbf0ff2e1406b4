import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { help, readOptions } from '../src/options.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

it('reads the mode, the contenders and the rounds, and by default compares all contenders', () => {
  expect(readOptions([])).toMatchObject({ mode: 'compare', quick: false });
  const { contenders } = readOptions(['--quick', '--only', 'hono,ours-rest']) ?? {};
  expect(contenders?.map(({ name }) => name)).toEqual(['ours-rest', 'hono']);
  expect(readOptions(['scaling', 'processes', '--rounds', '1'])).toMatchObject({
    mode: 'scaling processes',
    words: [],
    rounds: 1,
  });
});

it('reads the other commit and the kinds of creates from the command line', () => {
  expect(readOptions(['against', 'HEAD~1', 'trpc', 'rest'])).toMatchObject({
    mode: 'against',
    words: ['HEAD~1', 'trpc', 'rest'],
  });
});

const modes =
  'compare, against, reading, scaling connections, scaling instances, scaling processes, bulk, feed, start-up';

it.each([
  [['faster'], `there is no mode faster: choose from ${modes}`],
  [['--only', 'express'], 'there is no contender express: choose from ours-rest, '],
  [['scaling', 'rows'], `there is no mode scaling rows: choose from ${modes}`],
  [['against'], 'against needs a commit, such as: npx -y pnpm bench against HEAD~1'],
  [['against', 'HEAD', 'grpc'], 'there is no kind of create grpc: choose from rest, rest-small, '],
  [['bulk', 'tables'], 'bulk takes no arguments, but got tables'],
  [['--rounds', '0.5'], '--rounds is 0.5, but must be a whole number of at least 1'],
  [['--fast'], "Unknown option '--fast'"],
])('rejects %j with a message that says what is valid', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

it('returns undefined for --help', () => {
  expect(readOptions(['--help'])).toBeUndefined();
  expect(help).toContain('npx -y pnpm bench scaling processes');
});

it('exits with code 1 and prints the help for an invalid command line', async () => {
  await expect(promisify(execFile)(process.execPath, [main, 'faster'])).rejects.toMatchObject({
    code: 1,
    stderr: `there is no mode faster: choose from ${modes}\n\n${help}\n`,
  });
});
