import { type Argument, type Command, Help, type Option } from 'commander';

/** A command and everything that can follow it on the command line. */
export interface CompletionNode {
  /** The words after `plant-store`, such as `token` and `create`. Empty for the program itself. */
  path: string[];
  summary: string;
  subcommands: CompletionNode[];
  options: CompletionOption[];
  arguments: CompletionValue[];
}

export interface CompletionOption {
  /** The flags of an option, such as `-V` and `--version`. */
  flags: string[];
  summary: string;
  /** The value that must follow the option. A switch has no value. */
  value: CompletionValue | undefined;
}

export interface CompletionValue {
  name: string;
  /** The valid values. The list is empty when any value is valid. */
  choices: readonly string[];
  /** Whether the option takes several values, separated by commas. */
  isList: boolean;
}

const help = new Help();
help.showGlobalOptions = true;

/** Describes a command and its subcommands for the completion scripts. */
export function completionTree(command: Command, path: string[] = []): CompletionNode {
  const visible = help.visibleCommands(command);
  const names = visible.map((subcommand) => subcommand.name());
  const subcommands = visible.map((subcommand) => {
    const node = completionTree(subcommand, [...path, subcommand.name()]);
    // Commander itself adds the help command. The argument of `help` is the name of another command.
    const isHelp = !command.commands.includes(subcommand);
    return isHelp
      ? { ...node, arguments: [{ name: 'command', choices: names, isList: false }] }
      : node;
  });
  return {
    path,
    summary: help.subcommandDescription(command),
    subcommands,
    options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map(toOption),
    arguments: command.registeredArguments.map(toValue),
  };
}

function toOption(option: Option): CompletionOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  // Commander does not know that `<scope,...>` is a list.
  const [, name, list] = /[<[]([^<>[\],]+)(,\.{3})?[>\]]/.exec(option.flags) ?? [];
  const isList = list !== undefined;
  const value = name ? { name, choices: option.argChoices ?? [], isList } : undefined;
  return { flags, summary: option.description, value };
}

function toValue(argument: Argument): CompletionValue {
  return { name: argument.name(), choices: argument.argChoices ?? [], isList: false };
}

/** Returns all commands of a tree. The program comes first. */
export function allNodes(node: CompletionNode): CompletionNode[] {
  return [node, ...node.subcommands.flatMap(allNodes)];
}
