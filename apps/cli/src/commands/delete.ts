import { formatJson } from '@plant-store/schemas';
import { Argument, Command } from 'commander';
import { CommandError, plantUnknown, usageError } from '../command-line/errors.ts';
import { parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { confirm, isInteractive } from '../command-line/question.ts';
import { withStore } from '../command-line/with-store.ts';

interface DeleteOptions {
  yes?: true;
  json?: true;
}

export const deleteCommand = () =>
  new Command('delete')
    .summary('delete one plant')
    .description(
      'Delete the plant with this id. The id is free afterwards. On a terminal, the command shows ' +
        'the plant and asks first.',
    )
    .addArgument(new Argument('<id>', "the plant's id").argParser(parseId))
    .option('--yes', 'do not ask')
    .option('--json', 'write the deleted plant as JSON, as get does')
    .addHelpText(
      'after',
      '\nExamples:\n  plant-store delete 9007199254740993\n  plant-store delete 9007199254740993 --yes --json\n',
    )
    .action(async (id: bigint, { yes, json }: DeleteOptions) => {
      if (!yes && !isInteractive()) {
        throw usageError('cannot ask without a terminal: add --yes to delete the plant');
      }
      const plant = await withStore(async (store) => {
        const stored = await store.get(id);
        if (!stored) throw plantUnknown(id);
        const isConfirmed = yes || (await confirm(`Delete ${formatJson(stored)}?`));
        if (!isConfirmed) throw new CommandError(`the plant with the id ${id} is not deleted`);
        const wasThere = await store.delete(id); // Another client may have deleted it meanwhile.
        if (!wasThere) throw plantUnknown(id);
        return stored;
      });
      await writeOutput([
        json ? `${formatJson(plant)}\n` : `deleted the plant with the id ${id}\n`,
      ]);
    });
