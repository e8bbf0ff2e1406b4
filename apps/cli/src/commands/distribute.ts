import { ClusterError, type Distribution, distributePlants } from '@plant-store/core/operator';
import { Command } from 'commander';
import { CommandError, usageError } from '../command-line/errors.ts';
import { parseCount } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { confirm, isInteractive } from '../command-line/question.ts';
import { readSettings } from '../command-line/settings.ts';
import { withStore } from '../command-line/with-store.ts';

interface DistributeOptions {
  shards: number;
  yes?: true;
}

const help = `
DATABASE_URL must be the URL of the coordinator, of a user that owns the tables. The command says what
it will do, and asks first. Creates wait while it moves the plants to their nodes. You can always run it
again: it does only what is missing, and changes nothing when all is done.

Each node needs at least one shard, and a later node takes over whole shards. So choose two to four
times as many shards as the nodes that you expect in the next years: docs/scaling.md says why.

Example:
  plant-store distribute --shards 16
`;

export const distributeCommand = () =>
  new Command('distribute')
    .summary('distribute the plants over the nodes of a Citus cluster')
    .description(
      'Distribute the plants over the nodes of a Citus cluster, with what the tables hold, and copy the ' +
        'access tokens to every node.',
    )
    .requiredOption('--shards <number>', 'into how many shards to split the plants', parseCount)
    .option('--yes', 'do not ask')
    .addHelpText('after', help)
    .action(async ({ shards, yes }: DistributeOptions) => {
      if (!yes && !isInteractive()) {
        throw usageError('cannot ask without a terminal: add --yes to distribute the plants');
      }
      const settings = readSettings();
      if (!('databaseUrl' in settings)) {
        throw usageError('DATABASE_URL is not set: set it to the URL of the coordinator');
      }
      await withStore(async () => {}); // Creates the tables where they are missing.
      const { isDone, ...missing } = await distributePlants({
        databaseUrl: settings.databaseUrl,
        shards,
        confirm: async (plan) => yes ?? confirm(`${describe(plan)}Do this?`),
      }).catch((cause) => {
        if (cause instanceof ClusterError) throw new CommandError(cause.message, { cause });
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new CommandError(`not all is done (${reason}): ${again}`, { cause });
      });
      if (!isDone) throw new CommandError('nothing is distributed');
      const done = missing.steps.map(({ description }) => `done: ${description}\n`);
      const nothing = `nothing to do: the plants are distributed over ${missing.shards} shards\n`;
      await writeOutput(done.length > 0 ? done : [nothing]);
      if (missing.shards !== shards) await writeOutput([keepsShards(missing.shards)]);
    });

const again =
  'when its cause is gone, run the same command again, which is safe: it does only what is missing';

const keepsShards = (shards: number) =>
  `the plants keep their ${shards} shards: docs/scaling.md says how to split a shard\n`;

function describe({ nodes, shards, steps }: Distribution): string {
  const lines = steps.map(({ description }) => `  ${description}\n`);
  const warning =
    shards < nodes.length
      ? `Only ${shards} of the ${nodes.length} nodes can store plants, because a shard is on one node: ` +
        'docs/scaling.md says how many shards to choose.\n'
      : '';
  return `On the nodes ${nodes.join(', ')}:\n${lines.join('')}${warning}Creates wait meanwhile. `;
}
