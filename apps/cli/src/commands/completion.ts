import { Argument, Command } from 'commander';
import { writeOutput } from '../command-line/output.ts';
import { bashCompletion } from '../completion/bash.ts';
import { completionTree } from '../completion/completion-tree.ts';
import { zshCompletion } from '../completion/zsh.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion };

const help = `
Add one of these lines to ~/.bashrc, or to ~/.zshrc after compinit:
  source <(plant-store completion bash)
  source <(plant-store completion zsh)

Example:
  plant-store completion bash
`;

export const completionCommand = () =>
  new Command('completion')
    .summary('write a completion script for a shell')
    .description('Write a script that completes commands, options and their values in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText('after', help)
    .action(async (shell: keyof typeof scripts, _options: unknown, command: Command) => {
      await writeOutput([scripts[shell](completionTree(command.parent ?? command))]);
    });
