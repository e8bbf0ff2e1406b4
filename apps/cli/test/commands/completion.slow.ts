import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { main, run } from '../fixtures/run-program.ts';

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** This shell function makes the script call the program of this repository. */
const plantStore = `plant-store() { '${process.execPath}' '${main}' "$@"; }`;

describe.runIf(isInstalled('bash'))('in bash, where bash is installed,', () => {
  let script: string;

  beforeAll(async () => {
    script = (await run(['completion', 'bash'])).stdout;
  });

  it('completes a command', async () => {
    expect(await complete(['token', 'r'])).toBe('revoke');
  });

  it('completes the value of an option after an equals sign', async () => {
    expect(await complete(['export', '--format', '='])).toBe('ndjson csv');
  });

  it('lets bash complete the names of files', async () => {
    expect(await complete(['import', 'pl'])).toBe('');
    expect(script).toContain('complete -o default ');
  });

  /** Calls the completion function as bash does when a user types these words and presses Tab. */
  async function complete(words: string[]): Promise<string> {
    const call = `${plantStore}
      ${script}
      COMP_WORDS=(plant-store "$@") COMP_CWORD=$#
      _plant_store
      echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', [
      ...['--norc', '-c', call, 'bash'],
      ...words,
    ]);
    expect(stderr).toBe('');
    return stdout.trimEnd();
  }
});

describe('in zsh', () => {
  it('describes each command', async () => {
    const { stdout } = await run(['completion', 'zsh', '--', 'token', 'c']);
    expect(stdout).toBe('create:create an access token and show it once\n');
  });

  it.runIf(isInstalled('zsh'))('completes a command, where zsh is installed', async () => {
    const { stdout: script } = await run(['completion', 'zsh']);
    // Only an interactive zsh has the functions `compdef` and `_describe`, so the test defines both.
    const call = `${plantStore}
      compdef() { echo "$@" }
      _describe() { print -l -- "$1" "\${(@P)2}" }
      ${script}
      words=(plant-store "$@") CURRENT=\${#words}
      _plant_store`;
    const zsh = promisify(execFile)('zsh', ['-f', '-c', call, 'zsh', 'feed', 'o']);
    expect(await zsh).toEqual({ stdout: '_plant_store plant-store\nword\non\noff\n', stderr: '' });
  });
});
