import { expect, it } from 'vitest';
import { buildProgram } from '../src/program.ts';

const { commands } = buildProgram();
const allCommands = commands.flatMap((command) => [command, ...command.commands]);

it.each(allCommands.map((command) => [command.name(), command] as const))(
  'the help of %s has an example',
  (_, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(/\nExamples?:\n {2}plant-store \w/);
  },
);
