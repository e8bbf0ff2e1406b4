import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { completionCommand } from './commands/completion.ts';
import { deleteCommand } from './commands/delete.ts';
import { distributeCommand } from './commands/distribute.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { getCommand } from './commands/get.ts';
import { importCommand } from './commands/import.ts';
import { listCommand } from './commands/list.ts';
import { tokenCommand } from './commands/token.ts';

const help = `
The store is the Postgres at DATABASE_URL. If that is not set, it is the embedded database in
PLANT_STORE_DATA_DIR. The default directory is .plant-store: in the repository, or in the current
directory when this command is installed from its package. Only one process at a time can open an
embedded database, so stop the server first.

A file .env in the current directory can hold these settings.

Example:
  plant-store help import
`;

// Not an import: the build compiles only files in `src`.
const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/**
 * Builds the program with all its commands.
 *
 * @param writeHelp receives the text of the help and of `--version`
 */
export function buildProgram(writeHelp: (text: string) => void): Command {
  const program = new Command('plant-store')
    .description('Works on the plant store directly, without its server.')
    .version(manifest.version, '-V, --version', 'show the version')
    .option('--verbose', 'show the cause of an error')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: writeHelp })
    .addHelpText('after', help)
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(getCommand())
    .addCommand(listCommand())
    .addCommand(deleteCommand())
    .addCommand(tokenCommand())
    .addCommand(doctorCommand())
    .addCommand(distributeCommand())
    .addCommand(completionCommand());
  inheritSettings(program);
  return program;
}

/** Commander copies a program's settings only to commands made with `.command()`. */
function inheritSettings(command: Command): void {
  for (const subcommand of command.commands) {
    inheritSettings(subcommand.copyInheritedSettings(command));
  }
}
