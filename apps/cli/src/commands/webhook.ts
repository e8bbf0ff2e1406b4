import type { NewWebhook, PlantStore } from '@plant-store/core';
import { errorCatalogue, formatJson } from '@plant-store/schemas/plain';
import { Command, Option } from 'commander';
import type { Needs } from '../command-line/database-errors.ts';
import { CommandError, usageError } from '../command-line/errors.ts';
import { parseTime } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { readWebhookSettings } from '../command-line/webhook-settings.ts';
import { withStore } from '../command-line/with-store.ts';

const help = `
A webhook gets each change of the store by HTTP, signed by Standard Webhooks 1.0. Running servers send the
changes. docs/webhooks.md describes the requests.

Example:
  plant-store webhook show partner
`;

const read: Needs = { webhooks: ['SELECT'] };
const change: Needs = { webhooks: ['SELECT', 'UPDATE'] };
const remove: Needs = { webhooks: ['SELECT', 'DELETE'] };
const readFeed: Needs = { plants: ['SELECT'], plant_deletions: ['SELECT'], plant_feed: ['SELECT'] };

export const webhookCommand = () =>
  new Command('webhook')
    .summary('manage the endpoints that get each change by HTTP')
    .description('Manage the endpoints that get each change of the store by HTTP.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(commandFor('show', 'show a webhook and its last hundred attempts', read, show))
    .addCommand(commandFor('pause', 'send nothing until `webhook resume`', change, to('pause')))
    .addCommand(commandFor('resume', 'continue where the webhook was paused', change, to('resume')))
    .addCommand(commandFor('rotate', 'make a new secret, and show it once', change, rotate))
    .addCommand(replayCommand())
    .addCommand(commandFor('test', 'send a message of the type plants.test', read, test))
    .addCommand(commandFor('delete', 'delete a webhook', remove, to('delete')))
    .addHelpText('after', help);

/** Uses a webhook. Returns a result for the output, or undefined or false if the webhook does not exist. */
type Use = (webhooks: PlantStore['webhooks'], name: string) => Promise<object | undefined | false>;

const show: Use = (webhooks, name) => webhooks.get(name);

const to =
  (method: 'pause' | 'resume' | 'delete'): Use =>
  async (webhooks, name) =>
    (await webhooks[method](name)) && { name };

const rotate: Use = async (webhooks, name) => {
  const secret = await webhooks.rotate(name);
  if (secret === undefined) return undefined;
  process.stderr.write(keep);
  return { name, secret };
};

const test: Use = async (webhooks, name) => {
  const attempt = await webhooks.test(name);
  if (attempt?.error === undefined) return attempt;
  throw new CommandError(`the webhook ${JSON.stringify(name)} failed: ${attempt.error}`);
};

const keep = 'Keep this secret: the store cannot show it again.\n';

const createCommand = () =>
  new Command('create')
    .summary('create a webhook and show its secret once')
    .description(
      'Create a webhook, and show the secret that verifies its requests. The webhook gets the changes from now on.',
    )
    .argument('<url>', 'where to send the changes: https, and a public host')
    .option('--name <name>', 'the name for the other commands; default: the host')
    .option('--tag <tag>', 'send only changes of plants with this tag')
    .addOption(
      new Option('--only <type>', 'send only changes of this type').choices(['created', 'deleted']),
    )
    .option('--from <cursor>', 'begin after this cursor of the feed')
    .option('--json', 'write the name and the secret, or an error, as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  plant-store webhook create https://partner.example/plants\n',
    )
    .action(async (url: string, { json, ...options }: NewWebhook & { json?: true }) => {
      const needs: Needs = { ...readFeed, webhooks: ['SELECT', 'INSERT'] };
      const { name, secret } = await withWebhooks(needs, (webhooks) =>
        webhooks.create(url, options),
      );
      process.stderr.write(`The name of the webhook is ${name}. ${keep}`);
      await writeOutput([json ? `${formatJson({ name, secret })}\n` : `${secret}\n`]);
    });

const listCommand = () =>
  new Command('list')
    .summary('show all webhooks')
    .description('Show each webhook, its state and its lag in seconds, as a line of JSON.')
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', '\nExample:\n  plant-store webhook list\n')
    .action(async () => {
      const all = await withWebhooks(read, (webhooks) => webhooks.list());
      await writeOutput(all.map((webhook) => `${formatJson(webhook)}\n`));
    });

const replayCommand = () =>
  commandFor<{ from?: string; since?: Date }>(
    'replay',
    'send earlier changes again, and then all later changes',
    { ...readFeed, ...change },
    async (webhooks, name, { from, since = from }) => {
      if (since === undefined) throw usageError('set --since or --from');
      return (await webhooks.replay(name, since)) && { name };
    },
    'partner --since 2h',
  )
    .option('--since <time>', 'begin before the first change since this time', (text) =>
      parseTime(text),
    )
    .addOption(
      new Option('--from <cursor>', 'begin after this cursor of the feed').conflicts('since'),
    );

/** Makes a command that takes the name of a webhook, and writes a line of JSON. */
function commandFor<Options>(
  verb: string,
  summary: string,
  needs: Needs,
  use: (...options: [...Parameters<Use>, Options]) => ReturnType<Use>,
  example = 'partner',
): Command {
  return new Command(verb)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .argument('<name>', 'the name from webhook list')
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', `\nExample:\n  plant-store webhook ${verb} ${example}\n`)
    .action(async (name: string, options: Options) => {
      const shown = await withWebhooks(needs, (webhooks) => use(webhooks, name, options));
      if (shown) return writeOutput([`${formatJson(shown)}\n`]);
      const message = `no webhook has the name ${JSON.stringify(name)}: plant-store webhook list shows the names`;
      throw new CommandError(message, { code: errorCatalogue.invalidInput.code });
    });
}

function withWebhooks<T>(needs: Needs, use: (webhooks: PlantStore['webhooks']) => Promise<T>) {
  const options = { create: false, webhooks: readWebhookSettings(), needs };
  return withStore(({ webhooks }) => use(webhooks), options);
}
