import type { NewWebhook, PlantStore, Webhook } from '@plant-store/core';
import { errorCatalogue, formatJson } from '@plant-store/schemas/plain';
import { Command, Option } from 'commander';
import type { Needs } from '../command-line/database-errors.ts';
import { CommandError } from '../command-line/errors.ts';
import { jsonOption } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { readWebhookSettings } from '../command-line/webhook-settings.ts';
import { withStore } from '../command-line/with-store.ts';

const help = `
A webhook gets each change of the store by HTTP, signed by Standard Webhooks 1.0. Running servers send the
changes. docs/webhooks.md describes the requests.

Example:
  plant-store webhook show partner
`;

export const webhookCommand = () =>
  new Command('webhook')
    .summary('manage the endpoints that get each change by HTTP')
    .description('Manage the endpoints that get each change of the store by HTTP.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(commandFor('show', 'show a webhook and its last hundred attempts', read, show))
    .addCommand(commandFor('pause', 'send nothing until `webhook resume`', change, pause))
    .addCommand(commandFor('resume', 'continue where the webhook was paused', change, resume))
    .addCommand(commandFor('rotate', 'make a new secret, and show it once', change, rotate))
    .addCommand(replayCommand())
    .addCommand(commandFor('test', 'send a message of the type plants.test', read, test))
    .addCommand(
      commandFor('delete', 'delete a webhook', { webhooks: ['SELECT', 'DELETE'] }, remove),
    )
    .addHelpText('after', help);

const read: Needs = { webhooks: ['SELECT'] };
const change: Needs = { webhooks: ['SELECT', 'UPDATE'] };
const readFeed: Needs = { plants: ['SELECT'], plant_deletions: ['SELECT'], plant_feed: ['SELECT'] };

const show = (store: PlantStore, name: string) => store.webhooks.get(name);
const pause = async ({ webhooks }: PlantStore, name: string) =>
  (await webhooks.pause(name)) ? { name } : undefined;
const resume = async ({ webhooks }: PlantStore, name: string) =>
  (await webhooks.resume(name)) ? { name } : undefined;
const remove = async ({ webhooks }: PlantStore, name: string) =>
  (await webhooks.delete(name)) ? { name } : undefined;

async function rotate({ webhooks }: PlantStore, name: string) {
  const secret = await webhooks.rotate(name);
  if (secret !== undefined) process.stderr.write(keep);
  return secret === undefined ? undefined : { name, secret };
}

async function test({ webhooks }: PlantStore, name: string) {
  const attempt = await webhooks.test(name);
  if (attempt?.error === undefined) return attempt;
  throw new CommandError(`the webhook ${JSON.stringify(name)} failed: ${attempt.error}`);
}

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
    .addOption(jsonOption('write the name and the secret, or an error, as JSON'))
    .addHelpText(
      'after',
      '\nExample:\n  plant-store webhook create https://partner.example/plants\n',
    )
    .action(async (url: string, { json, ...options }: NewWebhook & { json?: true }) => {
      const { name, secret } = await withWebhooks((store) => store.webhooks.create(url, options), {
        ...readFeed,
        webhooks: ['SELECT', 'INSERT'],
      });
      process.stderr.write(`The name of the webhook is ${name}. ${keep}`);
      await writeOutput([json ? `${formatJson({ name, secret })}\n` : `${secret}\n`]);
    });

const listCommand = () =>
  new Command('list')
    .summary('show all webhooks')
    .description('Show each webhook, its state and its lag in seconds, as a line of JSON.')
    .addOption(jsonOption('also write errors as JSON'))
    .addHelpText('after', '\nExample:\n  plant-store webhook list\n')
    .action(async () => {
      const webhooks = await withWebhooks((store) => store.webhooks.list(), read);
      await writeOutput(webhooks.map((webhook: Webhook) => `${formatJson(webhook)}\n`));
    });

const replayCommand = () =>
  new Command('replay')
    .summary('send the changes after a cursor again')
    .description('Send the changes after a cursor of the feed again, and then all later changes.')
    .argument('<name>', nameHelp)
    .requiredOption('--from <cursor>', 'the cursor: `next` of a page, or `cursor` of a webhook')
    .addOption(jsonOption('also write errors as JSON'))
    .addHelpText(
      'after',
      '\nExample:\n  plant-store webhook replay partner --from "$(tail -n 1 changes.ndjson | jq -r .cursor)"\n',
    )
    .action((name: string, { from }: { from: string }) =>
      withWebhook(name, { ...readFeed, ...change }, async ({ webhooks }) =>
        (await webhooks.replay(name, from)) ? { name } : undefined,
      ),
    );

const nameHelp = 'the name from webhook list';

/** Makes a command that takes the name of a webhook, and writes a line of JSON. */
function commandFor(
  verb: string,
  summary: string,
  needs: Needs,
  use: (store: PlantStore, name: string) => Promise<object | undefined>,
): Command {
  return new Command(verb)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .argument('<name>', nameHelp)
    .addOption(jsonOption('also write errors as JSON'))
    .addHelpText('after', `\nExample:\n  plant-store webhook ${verb} partner\n`)
    .action((name: string) => withWebhook(name, needs, (store) => use(store, name)));
}

async function withWebhook(
  name: string,
  needs: Needs,
  use: (store: PlantStore) => Promise<object | undefined>,
): Promise<void> {
  const shown = await withWebhooks(use, needs);
  if (shown) return writeOutput([`${formatJson(shown)}\n`]);
  const message = `no webhook has the name ${JSON.stringify(name)}: plant-store webhook list shows the names`;
  throw new CommandError(message, { code: errorCatalogue.invalidInput.code });
}

function withWebhooks<T>(use: (store: PlantStore) => Promise<T>, needs: Needs): Promise<T> {
  return withStore(use, { create: false, webhooks: readWebhookSettings(), needs });
}
