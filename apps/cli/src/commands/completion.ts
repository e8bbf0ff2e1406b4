import { Argument, Command } from 'commander';
import { writeOutput } from '../command-line/output.ts';
import { type Completion, completions } from '../completion/completions.ts';

interface Shell {
  /**
   * Calls this command for each completion. If there are no completions, the shell completes names of files.
   */
  script: string;
  format(completion: Completion): string;
}

const shells = {
  bash: {
    script: `_plant_store() {
  local IFS=$'\\n'
  COMPREPLY=($(plant-store completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _plant_store plant-store
`,
    format: ({ word }) => word,
  },
  zsh: {
    script: `_plant_store() {
  local -a found=(\${(f)"$(plant-store completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  (( $#found )) && _describe word found || _files
}
compdef _plant_store plant-store
`,
    format: ({ word, summary }) => (summary ? `${word}:${summary}` : word),
  },
} satisfies Record<string, Shell>;

const help = `
Add one of these lines to ~/.bashrc, or to ~/.zshrc after compinit:
  source <(plant-store completion bash)
  source <(plant-store completion zsh)

At each completion, the script runs this command with the typed words.

Example:
  plant-store completion bash
`;

export const completionCommand = () =>
  new Command('completion')
    .summary('write a completion script for a shell')
    .description('Write a script that completes commands, options and their values in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .argument(
      '[words...]',
      'the typed words, after --. Without words, the command writes the script',
    )
    .addHelpText('after', help)
    .action(async (name: keyof typeof shells, words: string[], _: unknown, command: Command) => {
      const { script, format }: Shell = shells[name];
      const found = words.length > 0 && completions(command.parent ?? command, words);
      await writeOutput(found ? found.map((each) => `${format(each)}\n`) : [script]);
    });
