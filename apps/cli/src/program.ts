import { readFileSync } from 'node:fs';
import { Command } from 'commander';

/** The commands, in the order of the help. A command is loaded only when it runs. */
const commands: Record<string, () => Promise<Command>> = {
  import: async () => (await import('./commands/import.ts')).importCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  get: async () => (await import('./commands/get.ts')).getCommand(),
  list: async () => (await import('./commands/list.ts')).listCommand(),
  count: async () => (await import('./commands/count.ts')).countCommand(),
  delete: async () => (await import('./commands/delete.ts')).deleteCommand(),
  token: async () => (await import('./commands/token.ts')).tokenCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  distribute: async () => (await import('./commands/distribute.ts')).distributeCommand(),
  completion: async () => (await import('./commands/completion.ts')).completionCommand(),
};

const help = `
The store is the Postgres at DATABASE_URL. If that is not set, it is the embedded database in
PLANT_STORE_DATA_DIR, by default .plant-store. A file .env can hold these settings. Both are in the
repository, or in the current directory when this command is installed from its package. Only one
process at a time can open an embedded database, so stop the server first.

Example:
  plant-store help import
`;

// Not an import: the build compiles only files in `src`.
const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/**
 * Builds the program.
 *
 * @param writeHelp receives the text of the help and of `--version`
 * @param name the only command to load; all of them by default
 */
export async function buildProgram(
  writeHelp: (text: string) => void,
  name?: string,
): Promise<Command> {
  const program = new Command('plant-store')
    .description('Works on the plant store directly, without its server.')
    .version(manifest.version, '-V, --version', 'show the version')
    .option('--verbose', 'show the cause of an error')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: writeHelp })
    .addHelpText('after', help);
  const named = name === undefined ? undefined : commands[name];
  const loaded = await Promise.all(
    (named ? [named] : Object.values(commands)).map((load) => load()),
  );
  for (const command of loaded) program.addCommand(command);
  inheritSettings(program);
  return program;
}

/** The command of these arguments when it needs no other; undefined when all are needed, as for help. */
export function commandIn(words: readonly string[]): string | undefined {
  const name = words.find((word) => word !== '--verbose');
  return name !== undefined && name !== 'completion' && Object.hasOwn(commands, name)
    ? name
    : undefined;
}

/** Commander copies a program's settings only to commands made with `.command()`. */
function inheritSettings(command: Command): void {
  for (const subcommand of command.commands) {
    inheritSettings(subcommand.copyInheritedSettings(command));
  }
}
