import { Command } from 'commander';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { getCommand } from './commands/get.ts';
import { importCommand } from './commands/import.ts';
import { listCommand } from './commands/list.ts';
import { tokenCommand } from './commands/token.ts';

const help = `
The store is the Postgres of DATABASE_URL or, where that is not set, the embedded database in
PLANT_STORE_DATA_DIR, by default .plant-store in the repository. One process at a time may have an
embedded database open, so stop the server first.

Example:
  plant-store help import
`;

/** The command line, ready to parse what was typed. */
export function buildProgram(): Command {
  const program = new Command('plant-store')
    .description('Works on the plant store itself, beside its server.')
    .option('--verbose', 'show the cause of an error')
    .exitOverride()
    .addHelpText('after', help)
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(getCommand())
    .addCommand(listCommand())
    .addCommand(tokenCommand())
    .addCommand(doctorCommand());
  inheritSettings(program);
  return program;
}

/** Commander passes settings on to the commands that it makes itself, and to no others. */
function inheritSettings(command: Command): void {
  for (const each of command.commands) inheritSettings(each.copyInheritedSettings(command));
}
