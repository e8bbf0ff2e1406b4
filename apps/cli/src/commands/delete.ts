import { formatJson } from '@plant-store/schemas/plain';
import { Argument, Command } from 'commander';
import { CommandError, exitCodes, plantUnknown, usageError } from '../command-line/errors.ts';
import { parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { confirm, requireTerminal } from '../command-line/question.ts';
import { withStore } from '../command-line/with-store.ts';
import { type DeleteOptions, deleteFile, deleteNeeds } from '../delete/delete-file.ts';

const help = `
A file has one id on each line. The command ignores blank lines and the header id. The command reports
each line that is not an id, and goes on. The summary has the number of deleted plants, of ids without a
plant (absent), and of lines that are not ids (invalid). You may run the command again, unless somebody
has created new plants with these ids.

Exit codes: 0 when the plants are deleted, 3 when some lines of the file are not ids, 1 when an error
stopped the command or no plant has the id, 2 when an argument or a setting is invalid.

Examples:
  plant-store delete 9007199254740993
  plant-store delete 9007199254740993 --yes --json
  plant-store export --tag Araceae --columns id --format csv > ids.csv
  plant-store delete --file ids.csv --yes
`;

export const deleteCommand = () =>
  new Command('delete')
    .summary('delete one plant, or the plants with the ids in a file')
    .description(
      'Delete the plant with this id, or the plants with the ids in a file. The ids are free ' +
        'afterwards. On a terminal, the command asks first.',
    )
    .addArgument(new Argument('[id]', "the plant's id").argParser(parseId))
    .option('--file <file>', 'a file with an id on each line, or - for standard input')
    .option('--yes', 'do not ask')
    .option('--json', 'write the deleted plant, the summary or an error as JSON')
    .addHelpText('after', help)
    .action(async (id: bigint | undefined, options: DeleteOptions & { file?: string }) => {
      const { file } = options;
      if (file === undefined && id !== undefined) return deletePlant(id, options);
      if (file === undefined || id !== undefined) {
        throw usageError('delete needs an id or --file, and not both: name the plants to delete');
      }
      const areAllIds = await deleteFile(file, options);
      if (!areAllIds) process.exitCode = exitCodes.incomplete;
    });

async function deletePlant(id: bigint, { yes, json }: DeleteOptions): Promise<void> {
  if (!yes) requireTerminal('delete the plant');
  const plant = await withStore(
    async (store) => {
      const stored = await store.get(id);
      if (!stored) throw plantUnknown(id);
      const isConfirmed = yes || (await confirm(`Delete ${formatJson(stored)}?`));
      if (!isConfirmed) throw new CommandError(`the plant with the id ${id} is not deleted`);
      // Another client may have deleted the plant before the user confirmed.
      const wasThere = await store.delete(id);
      if (!wasThere) throw plantUnknown(id);
      return stored;
    },
    { create: false, needs: deleteNeeds },
  );
  await writeOutput([json ? `${formatJson(plant)}\n` : `deleted the plant with the id ${id}\n`]);
}
