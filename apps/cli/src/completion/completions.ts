import type { Command } from 'commander';

/** A word that completes the command line, and its description for the user. */
export interface Completion {
  word: string;
  summary: string;
}

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
