import { formatJson } from '@plant-store/schemas';
import { Argument, Command } from 'commander';
import { CommandFailure } from '../command-line/errors.ts';
import { parseId } from '../command-line/options.ts';
import { writeOut } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';

export const getCommand = () =>
  new Command('get')
    .summary('show a plant')
    .description('Show the plant with an id, as JSON.')
    .addArgument(new Argument('<id>', 'the id of the plant').argParser(parseId))
    .addHelpText('after', '\nExample:\n  plant-store get 9007199254740993\n')
    .action(async (id: bigint) => {
      const plant = await withStore((store) => store.get(id));
      if (!plant) throw new CommandFailure(`no plant has the id ${id}: see plant-store list`);
      await writeOut([`${formatJson(plant)}\n`]);
    });
