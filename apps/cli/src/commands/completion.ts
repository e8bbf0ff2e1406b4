import { Argument, Command } from 'commander';
import { writeOutput } from '../command-line/output.ts';

/** A word that completes the command line, and its description for the user. */
interface Completion {
  word: string;
  summary: string;
}

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

/**
 * Finds the completions of the last word.
 *
 * @param words the words after `plant-store`. The last word may be incomplete or empty.
 * @returns no completions when any value is valid, such as the name of a file
 */
export function completions(program: Command, words: readonly string[]): Completion[] {
  // Bash splits --format=csv into three words.
  const typed = [...words, ...(words.at(-1) === '=' ? [''] : [])].filter((word) => word !== '=');
  const last = typed.at(-1) ?? '';
  const command = typed
    .slice(0, -1)
    .reduce((found, word) => found.commands.find((each) => each.name() === word) ?? found, program);
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const complete = (start: string, candidates: readonly Completion[]) =>
    candidates
      .map(({ word, summary }) => ({ word: start + word, summary }))
      .filter(({ word }) => word.startsWith(last));

  // Zsh does not split --format=csv.
  const [start = '', flag = typed.at(-2) ?? ''] = /^(--[^=]+)=/.exec(last) ?? [];
  const option = options.find(
    ({ required, short, long }) => required && [short, long].includes(flag),
  );
  if (option) {
    const isList = option.flags.includes(',...');
    const listed = isList ? last.slice(start.length, last.lastIndexOf(',') + 1) : '';
    return complete(start + listed, choices(option));
  }
  if (last.startsWith('-')) {
    const flags = options.flatMap(({ short, long, description: summary }) =>
      [short, long].flatMap((word) => (word === undefined ? [] : [{ word, summary }])),
    );
    return complete('', flags);
  }
  const names = help.visibleCommands(command).map((each) => {
    return { word: each.name(), summary: help.subcommandDescription(each) };
  });
  return complete('', [...names, ...command.registeredArguments.flatMap(choices)]);
}

function choices({ argChoices = [] }: { argChoices?: readonly string[] }): Completion[] {
  return argChoices.map((word) => ({ word, summary: '' }));
}
