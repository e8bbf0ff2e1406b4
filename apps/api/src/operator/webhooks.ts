import type { NewWebhook, PlantStore } from '@plant-store/core';
import { formatJson } from '@plant-store/schemas/plain';
import { Command } from 'commander';

type UseStore = (use: (store: PlantStore) => Promise<void>) => Promise<void>;

type Webhooks = PlantStore['webhooks'];

/** The commands for webhooks, which the API does not have yet. Each command writes lines of JSON. */
export function webhookCommand(useStore: UseStore): Command {
  const command = new Command('webhook').description('manage the endpoints that get each change');

  command
    .command('create')
    .description('create a webhook, and show its secret once')
    .argument('<url>', 'where to send the changes: https, and a public host')
    .option('--name <name>', 'the name for the other commands (default: the host)')
    .option('--from <cursor>', 'begin after this cursor of the feed')
    .action((url: string, options: NewWebhook) =>
      useStore(async ({ webhooks }) => write(await webhooks.create(url, options))),
    );
  command
    .command('list')
    .description('show all webhooks')
    .action(() => useStore(async ({ webhooks }) => write(...(await webhooks.list()))));

  const forName = (
    verb: string,
    description: string,
    use: (webhooks: Webhooks, name: string, from: string) => Promise<object | boolean | undefined>,
  ) =>
    command
      .command(verb)
      .description(description)
      .argument('<name>', 'the name from webhook list')
      .action((name: string, { from }: { from: string }) =>
        useStore(async ({ webhooks }) => {
          const result = await use(webhooks, name, from);
          if (!result)
            throw new Error(`no webhook has the name ${JSON.stringify(name)}: see webhook list`);
          write(result === true ? { name } : result);
        }),
      );
  forName('show', 'show a webhook and its last hundred attempts', (webhooks, name) =>
    webhooks.get(name),
  );
  forName('pause', 'send nothing until webhook resume', (webhooks, name) => webhooks.pause(name));
  forName('resume', 'go on where the webhook was paused', (webhooks, name) =>
    webhooks.resume(name),
  );
  forName('delete', 'delete a webhook', (webhooks, name) => webhooks.delete(name));
  forName('test', 'send a message of the type plants.test', (webhooks, name) =>
    webhooks.test(name),
  );
  forName('rotate', 'make a new secret, and show it once', async (webhooks, name) => {
    const secret = await webhooks.rotate(name);
    return secret === undefined ? undefined : { name, secret };
  });
  forName('replay', 'send earlier changes again', (webhooks, name, from) =>
    webhooks.replay(name, from),
  ).requiredOption('--from <cursor>', 'begin after this cursor of the feed');
  return command;
}

function write(...values: object[]): void {
  process.stdout.write(values.map((value) => `${formatJson(value)}\n`).join(''));
}
