import { readFileSync } from 'node:fs';
import { Command } from 'commander';

/** The commands, in the order of the help. A command is loaded only when it runs. */
const commands: Record<string, () => Promise<Command>> = {
  import: async () => (await import('./commands/import.ts')).importCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  get: async () => (await import('./commands/read-plants.ts')).getCommand(),
  list: async () => (await import('./commands/read-plants.ts')).listCommand(),
  count: async () => (await import('./commands/read-plants.ts')).countCommand(),
  follow: async () => (await import('./commands/follow.ts')).followCommand(),
  delete: async () => (await import('./commands/delete.ts')).deleteCommand(),
  token: async () => (await import('./commands/token.ts')).tokenCommand(),
  webhook: async () => (await import('./commands/webhook.ts')).webhookCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  feed: async () => (await import('./commands/feed.ts')).feedCommand(),
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand(),
  completion: async () => (await import('./commands/completion.ts')).completionCommand(),
};

const help = `
The store is the Postgres at DATABASE_URL. If that is not set, it is the embedded database in
PLANT_STORE_DATA_DIR, by default .plant-store. A file .env can hold these settings. Both are in the
repository, or in the current directory when this command is installed from its package. Only one
process at a time can open an embedded database, so stop the server first. Only mcp needs the server.

Example:
  plant-store help import
`;

// The build compiles only files in `src`, so an import of `package.json` would fail.
const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/**
 * @param writeHelp receives the text of the help and of `--version`
 * @param names the commands to load. Default: all commands
 */
export async function buildProgram(
  writeHelp: (text: string) => void,
  names: readonly string[] = Object.keys(commands),
): Promise<Command> {
  const program = new Command('plant-store')
    .description('Works on the database of the plant store directly, without its server.')
    .version(manifest.version, '-V, --version', 'show the version')
    .option('--verbose', 'show the cause of an error')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: writeHelp, outputError() {} }) // `runProgram` reports the error.
    .addHelpText('after', help);
  const loaded = await Promise.all(names.map((name) => commands[name]?.()));
  for (const command of loaded) if (command) program.addCommand(command);
  inheritSettings(program);
  return program;
}

/** Returns the commands that these arguments need. Undefined means all commands, as for help. */
export function commandsIn(words: readonly string[]): readonly string[] | undefined {
  const name = words.find((word) => word !== '--verbose') ?? '';
  if (['-V', '--version'].includes(name)) return [];
  return name !== 'completion' && Object.hasOwn(commands, name) ? [name] : undefined;
}

/** Copies the settings of a command to its subcommands, because `addCommand` does not copy the settings. */
function inheritSettings(command: Command): void {
  for (const subcommand of command.commands) {
    inheritSettings(subcommand.copyInheritedSettings(command));
  }
}
