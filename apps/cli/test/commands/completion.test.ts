import { expect, it } from 'vitest';
import { completions } from '../../src/commands/completion.ts';
import { buildProgram } from '../../src/program.ts';

const program = await buildProgram(() => {});

it.each([
  [
    '',
    'import export get list count follow delete token webhook doctor feed mcp distribute completion help',
  ],
  ['im', 'import'],
  ['-', '-V --version --verbose -h --help'],
  ['--verbose li', 'list'],
  ['token ', 'create list revoke help'],
  ['token cr', 'create'],
  ['token create --e', '--expires'],
  ['token create --scopes ', 'create read delete manage'],
  ['token create --scopes create,r', 'create,read'],
  ['token help rev', 'revoke'],
  ['help ex', 'export'],
  ['import --re', '--rejects'],
  ['import --format ', 'ndjson csv'],
  ['import plants --format c', 'csv'],
  ['import --encoding utf-1', 'utf-16le utf-16be'],
  ['import --on-conflict ', 'report skip fail'],
  ['import --d', '--delimiter --dry-run'],
  ['completion ', 'bash zsh'],
  ['follow --from ', 'now start'],
  ['feed ', 'on off'],
  ['export --format=n', '--format=ndjson'],
  ['export --format = n', 'ndjson'],
  ['token create --scopes=create,re', '--scopes=create,read'],
  ['import pl', ''],
  ['import --rejects ', ''],
])('completes `plant-store %s` with %s', (typed, expected) => {
  const words = completions(program, typed.split(' ')).map(({ word }) => word);
  expect(words.join(' ')).toBe(expected);
});

it('describes an option', () => {
  expect(completions(program, ['export', '--form'])).toEqual([
    { word: '--format', summary: 'the format of the output' },
  ]);
});
