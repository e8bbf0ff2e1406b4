import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { buildProgram } from '../src/program.ts';
import { run, start } from './fixtures/run-program.ts';

it('shows the version of the package', async () => {
  const result = await run(['--version']);
  expect(result).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

it.each(['help', '--help', '--version'])(
  'exits quietly when the reader of `plant-store %s` closes the pipe, as head does',
  async (argument) => {
    const { child, result } = start([argument]);
    child.stdout.destroy();
    expect(await result).toEqual({ code: 0, stdout: '', stderr: '' });
  },
);

const { commands } = buildProgram(() => {});
const allCommands = commands.flatMap((command) => [command, ...command.commands]);

it.each(allCommands.map((command) => [command.name(), command] as const))(
  'the help of %s has an example',
  (_, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(/\nExamples?:\n {2}plant-store \w/);
  },
);
