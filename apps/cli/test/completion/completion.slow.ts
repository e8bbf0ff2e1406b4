import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from '../fixtures/run-program.ts';

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe.runIf(isInstalled('bash'))('in bash, where bash is installed,', () => {
  let script: string;

  beforeAll(async () => {
    script = (await run(['completion', 'bash'])).stdout;
  });

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
  ])('completes `plant-store %s` with %s', (typed, expected) => {
    expect(complete(typed.split(' '))).toBe(expected);
  });

  it('completes the value of an option after an equals sign', () => {
    expect(complete(['export', '--format', '='])).toBe('ndjson csv');
    expect(complete(['export', '--format', '=', 'n'])).toBe('ndjson');
  });

  it('lets bash complete the names of files', () => {
    expect(complete(['import', 'pl'])).toBe('');
    expect(complete(['import', '--rejects', ''])).toBe('');
    expect(script).toContain('complete -o default ');
  });

  /** Calls the completion function as bash does after these words and the Tab key. */
  function complete(words: string[]): string {
    const call = `${script}
      COMP_WORDS=(plant-store "$@") COMP_CWORD=$#
      _plant_store
      echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', call, 'bash', ...words]);
    expect(stderr.toString()).toBe('');
    return stdout.toString().trimEnd();
  }
});

describe('in zsh', () => {
  let script: string;

  beforeAll(async () => {
    script = (await run(['completion', 'zsh'])).stdout;
  });

  it.runIf(isInstalled('zsh'))('loads without an error, where zsh is installed', () => {
    // Only interactive shells load the completion system of zsh, which defines `compdef`.
    const load = `compdef() { echo "$@" }\n${script}`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', load]);
    expect(stderr.toString()).toBe('');
    expect(stdout.toString()).toBe('_plant_store plant-store\n');
  });

  it('describes commands, switches, choices and files', () => {
    expect(script).toContain("\n    'import:store the plants of a file'\n");
    expect(script).toContain('\n        create) _plant_store_token_create ;;\n');
    expect(script).toContain(
      "\n    --strict'[stop at the first row that is rejected or in conflict]' \\\n",
    );
    expect(script).toContain("--format='[the format of the output]:format:(ndjson csv)' \\\n");
    expect(script).toContain("\n    '1:file:_files'\n}\n");
    expect(script).toContain(':scope:_values -s , scope create read delete manage');
  });

  it('escapes quotes and colons in descriptions', () => {
    expect(script).toContain("--format='[the file'\\''s format (default\\: by its extension,");
  });
});
