import {
  ClusterError,
  type DistributeOptions,
  type Distribution,
  distributePlants,
  type Instance,
} from '@plant-store/citus/operator';
import { Command } from 'commander';
import { nameInstance } from '../command-line/database-errors.ts';
import { CommandError, messageOf, usageError } from '../command-line/errors.ts';
import { parseCount } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { type Progress, showProgress } from '../command-line/progress-bar.ts';
import { confirm, requireTerminal } from '../command-line/question.ts';
import { readSettings } from '../command-line/settings.ts';
import { withStore } from '../command-line/with-store.ts';

interface Options {
  shards: number;
  blocking?: boolean;
  yes?: true;
}

const help = `
DATABASE_URL must be the URL of the coordinator, of a user that owns the tables. The command says what
it will do, and asks first. You can always run it again: it does only what is missing, and changes
nothing when everything is done.

The feed of changes begins anew, so clients that follow it, and endpoints of webhooks, list the plants
again.

Creates and deletes go on while plants move to their nodes. This needs wal_level = logical, and citus in
the setting output_plugin_libraries of a Postgres that has it. With --blocking it needs neither, and
creates and deletes wait. At the end, the command waits up to a minute until the running instances have
noticed the cluster.

Each node needs at least one shard, and a later node takes over whole shards. So choose two to four
times as many shards as the nodes that you expect in the next years.

Example:
  plant-store distribute --shards 16
`;

export const distributeCommand = () =>
  new Command('distribute')
    .summary('distribute the plants over the nodes of a Citus cluster')
    .description(
      'Distribute the plants over the nodes of a Citus cluster, including those already stored, and copy ' +
        'the access tokens to every node.',
    )
    .requiredOption('--shards <number>', 'into how many shards to split the plants', parseCount)
    .option('--blocking', 'let creates and deletes wait while the plants move, which is faster')
    .option('--yes', 'do not ask, even when this ends the feed of changes')
    .addHelpText('after', help)
    .action(async ({ shards, blocking = false, yes }: Options) => {
      if (!yes) requireTerminal('distribute the plants');
      const settings = readSettings();
      if (!('databaseUrl' in settings)) {
        throw usageError('DATABASE_URL is not set: set it to the URL of the coordinator');
      }
      await withStore(async () => {}); // Opening the store creates missing tables.
      const { isDone, blindInstances, ...missing } = await distribute({
        databaseUrl: settings.databaseUrl,
        shards,
        isBlocking: blocking,
        confirm: async (plan) => yes ?? confirm(`${describe(plan)}Do this?`),
        patience: 60_000,
        onWait: (instances) => process.stderr.write(waitingFor(instances)),
      });
      if (!isDone) throw new CommandError('nothing is distributed');
      const done = missing.steps.map(({ description }) => `done: ${description}\n`);
      const nothing = `nothing to do: the plants are distributed over ${missing.shards} shards\n`;
      await writeOutput(done.length > 0 ? done : [nothing]);
      if (missing.shards !== shards) await writeOutput([keepsShards(missing.shards)]);
      if (blindInstances.length > 0) throw new CommandError(restart(blindInstances));
    });

/** Shows the progress while plants move. */
async function distribute(options: DistributeOptions) {
  let progress: Progress | undefined;
  let copied = 0;
  const onCopied = (now: number, total: number | undefined) => {
    copied = now;
    progress ??= showProgress({ total, value: () => copied, rows: () => copied });
    progress.update();
  };
  try {
    return await distributePlants({ ...options, onCopied });
  } catch (cause) {
    if (cause instanceof ClusterError) throw new CommandError(cause.message, { cause });
    const message = `the distribution is incomplete (${messageOf(cause)}): ${again}`;
    throw new CommandError(message, { cause });
  } finally {
    progress?.stop();
  }
}

const again =
  'when the cause is fixed, run the same command again, which is safe: it does only what is missing';

const keepsShards = (shards: number) =>
  `the plants keep their ${shards} shards: docs/scaling.md says how to split a shard\n`;

function describe({ nodes, shards, steps }: Distribution): string {
  const lines = steps.map(({ description }) => `  ${description}\n`);
  const warning =
    shards < nodes.length
      ? `Only ${shards} of the ${nodes.length} nodes can store plants, because a shard is on one node: ` +
        'docs/scaling.md says how many shards to choose.\n'
      : '';
  const waits = steps.some(({ move }) => move?.isBlocking)
    ? 'Creates and deletes wait meanwhile. '
    : '';
  return `On the nodes ${nodes.join(', ')}:\n${lines.join('')}${warning}${waits}`;
}

const waitingFor = (instances: readonly Instance[]) =>
  `plant-store: waiting up to a minute until these instances notice the cluster: ${nameAll(instances)}\n`;

const restart = (instances: readonly Instance[]) =>
  `these instances have not noticed the cluster: ${nameAll(instances)}; restart them`;

const nameAll = (instances: readonly Instance[]) => instances.map(nameInstance).join(', ');
