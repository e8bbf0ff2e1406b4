import { formatJson } from '@plant-store/schemas/plain';
import { Argument, Command } from 'commander';
import { plantUnknown } from '../command-line/errors.ts';
import { jsonOption, parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withReader } from '../command-line/with-store.ts';

export const getCommand = () =>
  new Command('get')
    .summary('show one plant')
    .description('Show the plant with this id, as JSON.')
    .addArgument(new Argument('<id>', "the plant's id").argParser(parseId))
    .addOption(jsonOption('write an error as JSON, too'))
    .addHelpText('after', '\nExample:\n  plant-store get 9007199254740993\n')
    .action(async (id: bigint) => {
      const plant = await withReader((reader) => reader.get(id));
      if (!plant) throw plantUnknown(id);
      await writeOutput([`${formatJson(plant)}\n`]);
    });
