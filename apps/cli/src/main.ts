#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { makeGroup } from './command.ts';
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

// The build compiles only files in `src`, so an import of `package.json` would fail.
const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const description = 'Works on a running plant store over HTTP, on this machine or on another.';
const program = makeGroup('plant-store', description)
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

const isJson = process.argv.includes('--json');
// A reader that closes the pipe ends a command, as in `plant-store export | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exitCode = reportError(error, isJson);
  process.exit();
});
process.stderr.on('error', () => {}); // Without standard error, the exit code still says the outcome.
try {
  await program.parseAsync();
} catch (error) {
  const isUsage = error instanceof CommanderError;
  const isHelp = isUsage && error.exitCode === 0;
  if (!isHelp) process.exitCode = reportError(isUsage ? explainUsage(error) : error, isJson);
}

function explainUsage({ code, message }: CommanderError) {
  if (code === 'commander.help') return usageError('name one of these commands');
  return usageError(message.replace(/^error: /, '').replace('\n', ' '));
}
