import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
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
])('reads the typed text %j as %s', async (answer, isConfirmed) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(answer);
  expect(await confirm('Delete it?', { input, output })).toBe(isConfirmed);
  output.end();
  expect((await text(output)).trimEnd()).toBe('Delete it? [y/N]');
});
