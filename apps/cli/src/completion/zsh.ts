import {
  allNodes,
  type CompletionNode,
  type CompletionOption,
  type CompletionValue,
} from './completion-tree.ts';

/** Generates the completion script for zsh: one function for each command. */
export function zshCompletion(program: CompletionNode): string {
  const functions = allNodes(program).map((node) =>
    node.subcommands.length > 0 ? groupFunction(node) : commandFunction(node),
  );
  return `# The completion of plant-store for zsh. Load it after compinit.
${functions.join('\n')}
compdef ${functionName(program)} plant-store
`;
}

/** Generates a function that completes the name of a subcommand, and then calls the subcommand's function. */
function groupFunction(node: CompletionNode): string {
  const names = node.subcommands.map(({ path, summary }) =>
    quote(`${path.at(-1)}:${escapeColons(summary)}`),
  );
  const branches = node.subcommands.map(
    (subcommand) => `${subcommand.path.at(-1)}) ${functionName(subcommand)} ;;`,
  );
  return `${functionName(node)}() {
  local curcontext=$curcontext context state state_descr line
  typeset -A opt_args
  local -a subcommands=(
    ${names.join('\n    ')}
  )
  ${argumentsCall([...node.options.map(optionSpec), "'1: :->subcommand'", "'*:: :->arguments'"])}
  case $state in
    subcommand) _describe command subcommands ;;
    arguments)
      case $words[1] in
        ${branches.join('\n        ')}
      esac ;;
  esac
}
`;
}

function commandFunction(node: CompletionNode): string {
  const positions = node.arguments.map((value, i) => quote(`${i + 1}${valueSpec(value)}`));
  return `${functionName(node)}() {
  ${argumentsCall([...node.options.map(optionSpec), ...positions])}
}
`;
}

function argumentsCall(specs: string[]): string {
  return ['_arguments -C', ...specs].join(' \\\n    ');
}

function optionSpec({ flags, summary, value }: CompletionOption): string {
  const isLong = (flag: string) => flag.startsWith('--');
  // "=" accepts both --format=csv and --format csv.
  const names = value ? flags.map((flag) => (isLong(flag) ? `${flag}=` : flag)) : flags;
  const rest = quote(`[${escapeBrackets(summary)}]${value ? valueSpec(value) : ''}`);
  if (names.length === 1) return `${names}${rest}`;
  return `'(${flags.join(' ')})'{${names.join(',')}}${rest}`;
}

function valueSpec({ name, choices, isList }: CompletionValue): string {
  if (isList) return `:${name}:_values -s , ${name} ${choices.join(' ')}`;
  if (choices.length > 0) return `:${name}:(${choices.join(' ')})`;
  return `:${name}:${name === 'file' ? '_files' : ' '}`;
}

function functionName({ path }: CompletionNode): string {
  return ['_plant_store', ...path].join('_');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}

/** In zsh, brackets end a description, and colons separate the parts of a specification. */
function escapeBrackets(text: string): string {
  return escapeColons(text).replaceAll(/[[\]]/g, '\\$&');
}
