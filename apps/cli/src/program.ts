import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { examples } from './arguments.ts';
import { exportCommand } from './commands/export.ts';
import { followCommand } from './commands/follow.ts';
import { importCommand } from './commands/import.ts';
import { countCommand, deleteCommand, getCommand, listCommand } from './commands/plants.ts';
import { tokenCommand } from './commands/token.ts';
import { reportError, usageError } from './errors.ts';

/** The commands, in the order of the help. */
const commands = [
  importCommand,
  exportCommand,
  listCommand,
  getCommand,
  countCommand,
  deleteCommand,
  followCommand,
  tokenCommand,
];

const help = `
Settings, as environment variables or in the file .env:
  PLANT_STORE_URL    the address of the store (default: http://127.0.0.1:3000)
  PLANT_STORE_TOKEN  an access token (default: the token of the embedded store on this machine)
`;

/** Runs the command in `process.argv`. Reports an error on standard error and in the exit code. */
export async function runProgram(words = process.argv.slice(2)): Promise<void> {
  const isJson = words.includes('--json');
  // A reader that closes the pipe ends a command, as in `plant-store export | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exitCode = reportError(error, isJson);
    process.exit();
  });
  process.stderr.on('error', () => {}); // Without standard error, the exit code still says the outcome.
  try {
    await buildProgram().parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return; // After the help.
    process.exitCode = reportError(withoutCommander(error), isJson);
  }
}

function buildProgram(): Command {
  const program = new Command('plant-store')
    .description('Works on a running plant store over HTTP, on this machine or on another.')
    .version(version(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show the help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', help + examples('import plants.csv'));
  for (const command of commands) program.addCommand(command());
  for (const each of allCommands(program))
    each.exitOverride().configureOutput({ outputError() {} });
  return program;
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** The build compiles only files in `src`, so an import of `package.json` would fail. */
function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

function withoutCommander(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.code === 'commander.help') return usageError('name one of these commands');
  return usageError(error.message.replace(/^error: /, '').replace('\n', ' '));
}
