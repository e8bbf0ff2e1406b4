import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { confirm } from '../../src/command-line/question.ts';

it.each([
  ['y\n', true],
  ['YES\r\n', true],
  [' yes \n', true],
  ['y', true],
  ['\n', false],
  ['n\n', false],
  ['yellow\n', false],
  ['n\ny\n', false],
  ['', false],
])('reads the typed text %j as %s', async (typed, isConfirmed) => {
  // The cast is safe, because the program only reads this stream.
  const input = new PassThrough().end(typed) as unknown as typeof process.stdin;
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(await confirm('Delete it?')).toBe(isConfirmed);
  expect(write.mock.calls.join('').trimEnd()).toBe('Delete it? [y/N]');
  vi.restoreAllMocks();
});
