import { allNodes, type CompletionNode } from './completion-tree.ts';

/**
 * Generates the completion script for bash. If the script has no completion, bash completes the names of
 * files.
 */
export function bashCompletion(program: CompletionNode): string {
  const nodes = allNodes(program);
  return `# The completion of plant-store for bash.
_plant_store() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # Bash splits --format=csv into three words.
  if [[ $current == '=' ]]; then current=; fi
  if [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi

  local command= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$command $word" in
      ${nodes.filter(hasPath).map(commandPattern).join(' | ')})
        command="\${command:+$command }$word" ;;
    esac
  done

  # The values of a list that are complete already, with a comma after each.
  local values= options= complete=
  case "$command" in
${nodes.map(wordsBranch).join('\n')}
  esac
  case "$command $previous" in
${nodes.flatMap(valueBranches).join('\n')}
  esac
  if [[ $current == -* ]]; then values=$options; fi
  COMPREPLY=($(compgen -P "$complete" -W "$values" -- "\${current#"$complete"}"))
}
complete -o default -F _plant_store plant-store
`;
}

const hasPath = ({ path }: CompletionNode) => path.length > 0;

/** Matches the words of the parent command, followed by the command's own name. */
function commandPattern({ path }: CompletionNode): string {
  return `'${path.slice(0, -1).join(' ')} ${path.at(-1)}'`;
}

function wordsBranch({ path, subcommands, options, arguments: values }: CompletionNode): string {
  const names = subcommands.map((subcommand) => subcommand.path.at(-1));
  const words = [...names, ...values.flatMap(({ choices }) => choices)].join(' ');
  const flags = options.flatMap((option) => option.flags).join(' ');
  return `    '${path.join(' ')}') values='${words}' options='${flags}' ;;`;
}

function valueBranches({ path, options }: CompletionNode): string[] {
  return options.flatMap(({ flags, value }) => {
    if (!value) return [];
    const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ');
    const complete = value.isList ? ` complete=\${current%"\${current##*,}"}` : '';
    return [`    ${patterns}) values='${value.choices.join(' ')}'${complete} ;;`];
  });
}
