import { formatJson } from '@plant-store/schemas';
import { Argument, Command } from 'commander';
import { plantUnknown } from '../command-line/errors.ts';
import { parseId } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';

export const getCommand = () =>
  new Command('get')
    .summary('show one plant')
    .description('Show the plant with this id, as JSON.')
    .addArgument(new Argument('<id>', "the plant's id").argParser(parseId))
    .addHelpText('after', '\nExample:\n  plant-store get 9007199254740993\n')
    .action(async (id: bigint) => {
      const plant = await withStore((store) => store.get(id));
      if (!plant) throw plantUnknown(id);
      await writeOutput([`${formatJson(plant)}\n`]);
    });
