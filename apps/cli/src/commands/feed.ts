import { switchFeed } from '@plant-store/core/operator';
import { PlantStoreError } from '@plant-store/core/read';
import { Argument, Command } from 'commander';
import { CommandError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { confirm, requireTerminal } from '../command-line/question.ts';
import { withSettings } from '../command-line/with-store.ts';

const help = `
The feed is on by default. It has an index, which costs Postgres about a quarter more CPU time for an
import. So switch the feed off before a very large import, and on again afterwards.

  off   Consumers get the error 50100. The command asks first
  on    Earlier consumers get the error 41000 once, and must list all plants again. Creates and
        deletes go on, and wait only for a moment


DATABASE_URL must be of the user that owns the tables. You can always run the command again.

Examples:
  plant-store feed off --yes
  plant-store feed on
`;

type State = 'on' | 'off';

export const feedCommand = () =>
  new Command('feed')
    .summary('switch the feed of changes on or off')
    .description('Switch the feed of changes on or off for all instances of the store.')
    .addArgument(new Argument('<state>', 'the new state').choices(['on', 'off']))
    .option('--yes', 'do not ask')
    .addHelpText('after', help)
    .action(async (state: State, { yes }: { yes?: true }) => {
      if (state === 'off' && !yes) await confirmOff();
      const isChanged = await withSettings((settings) => switchOnce(settings, state), {});
      await writeOutput([`the feed of changes is ${state}${isChanged ? '' : ', as before'}\n`]);
    });

async function confirmOff(): Promise<void> {
  requireTerminal('switch the feed off');
  const question =
    'Switch the feed of changes off? Its consumers must list all plants again later.';
  if (!(await confirm(question))) throw new CommandError('the feed of changes is still on');
}

/** The SQLSTATE of a missing privilege. */
const insufficientPrivilege = '42501';

async function switchOnce(...[settings, state]: Parameters<typeof switchFeed>): Promise<boolean> {
  try {
    return await switchFeed(settings, state);
  } catch (cause) {
    if (!(cause instanceof PlantStoreError)) throw cause;
    if (cause.kind === 'notImplemented')
      throw new CommandError(cause.message, { code: cause.code });
    if (cause.databaseCode !== insufficientPrivilege) throw cause;
    const message = `only the owner of the tables can switch the feed (${cause.reason}): use a DATABASE_URL of that user`;
    throw new CommandError(message, { cause });
  }
}
