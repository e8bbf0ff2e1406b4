import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { buildProgram } from '../src/program.ts';
import { run, start } from './fixtures/run-program.ts';

it('shows the version of the package', async () => {
  const result = await run(['--version']);
  expect(result).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

const withNode = (version: string) => [
  '--import',
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`,
];

it.each(['20.19.0', '22.17.1'])('names the required version of Node on Node %s', async (old) => {
  expect(manifest.engines.node).toBe('>=22.18');
  expect(await run(['--version'], { node: withNode(old) })).toEqual({
    code: 1,
    stdout: '',
    stderr: `plant-store: this is Node ${old}: install Node 22.18 or newer, and run it again\n`,
  });
});

it.each(['apps/cli/bin/plant-store.js', 'apps/api/bin/server.js'])(
  '%s names the required version of Node when Node cannot run TypeScript',
  async (program) => {
    const file = fileURLToPath(new URL(`../../../${program}`, import.meta.url));
    const old = `data:text/javascript,Object.defineProperty(process.features, 'typescript', { value: false })`;
    const ended = promisify(execFile)(process.execPath, ['--import', old, file]);
    const version = process.versions.node;
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: `plant-store: this is Node ${version}: install Node 22.18 or newer, and run it again\n`,
    });
  },
);

it.each(['22.18.0', '24.0.0'])('runs on Node %s', async (version) => {
  expect(await run(['--version'], { node: withNode(version) })).toMatchObject({ code: 0 });
});

// With a static import, an old Node would end with a SyntaxError before it runs the first line.
it.each(['apps/cli', 'apps/api'])(
  '%s/src/main.ts, which checks the version of Node, has no static import',
  async (app) => {
    const main = await readFile(new URL(`../../../${app}/src/main.ts`, import.meta.url), 'utf8');
    expect(main).not.toMatch(/^(import|export)\b/m);
  },
);

it.each(['help', '--help', '--version'])(
  '`plant-store %s` exits quietly when the reader closes the pipe',
  async (argument) => {
    const { child, result } = start([argument]);
    child.stdout.destroy();
    expect(await result).toEqual({ code: 0, stdout: '', stderr: '' });
  },
);

it.each(['', 'token', 'help nosuch', 'webhook help nosuch'])(
  '`plant-store %s` shows the commands on standard error, and asks for a command',
  async (words) => {
    const { code, stdout, stderr } = await run(words.split(' ').filter(Boolean));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: .*\nplant-store: name one of these commands\n$/s);
  },
);

it.each(['help token create', 'token help create', 'token create --help'])(
  '`plant-store %s` shows the help of the subcommand',
  async (words) => {
    const { code, stdout } = await run(words.split(' '));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: plant-store token create .*--expires/s);
  },
);

const { commands } = await buildProgram(() => {});
const allCommands = commands.flatMap((command) => [command, ...command.commands]);

it.each(allCommands.map((command) => [command.name(), command] as const))(
  'the help of %s has an example',
  (_, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(/\nExamples?:\n {2}plant-store \w/);
  },
);
