import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { exportCommand } from './commands/export.ts';
import { followCommand } from './commands/follow.ts';
import { importCommand } from './commands/import.ts';
import * as plants from './commands/plants.ts';
import { tokenCommand } from './commands/token.ts';
import { webhookCommand } from './commands/webhook.ts';
import { reportError, usageError } from './errors.ts';

const help = `
Settings, as environment variables or in the file .env:
  PLANT_STORE_URL    the address of the store (default: http://127.0.0.1:3000)
  PLANT_STORE_TOKEN  an access token (default: the token of the embedded store on this machine)
`;

/** Runs the command in the arguments. Reports an error on standard error and in the exit code. */
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
    const isUsage = error instanceof CommanderError;
    process.exitCode = reportError(isUsage ? usageError(explainUsage(error)) : error, isJson);
  }
}

function buildProgram(): Command {
  // The build compiles only files in `src`, so an import of `package.json` would fail.
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const program = new Command('plant-store')
    .description('Works on a running plant store over HTTP, on this machine or on another.')
    .version(JSON.parse(manifest).version, '-V, --version', 'show the version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', help)
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(plants.listCommand())
    .addCommand(plants.getCommand())
    .addCommand(plants.countCommand())
    .addCommand(plants.replaceCommand())
    .addCommand(plants.deleteCommand())
    .addCommand(followCommand())
    .addCommand(tokenCommand())
    .addCommand(webhookCommand());
  for (const each of allCommands(program)) {
    each.exitOverride().configureOutput({ outputError() {} });
  }
  return program;
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

function explainUsage({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'name one of these commands';
  return message.replace(/^error: /, '').replace('\n', ' ');
}
