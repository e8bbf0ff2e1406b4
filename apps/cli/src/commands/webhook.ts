import type { PlantStoreClient } from '@plant-store/client';
import { maxPageSize } from '@plant-store/schemas';
import { Command } from 'commander';
import { makeCommand, writeJson } from '../command.ts';
import { connect } from '../store.ts';

/** Each of these commands writes lines of JSON, also without `--json`. */
export function webhookCommand(): Command {
  const webhook = new Command('webhook')
    .description('manage webhooks, with a token that has the scope webhooks:manage')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(replayCommand());

  /** Adds a command that works on one webhook. */
  const add = (command: string, description: string, run: Run) =>
    webhook.addCommand(
      makeCommand(command, description, { examples: [`webhook ${command} partner`] })
        .argument('<name>', 'the name of the webhook')
        .action(async (name: string) => writeJson(await run(connect(30_000), name))),
    );

  add('show', 'show a webhook with its last attempt', (store, name) =>
    store.getWebhook.query({ name }),
  );
  add('pause', 'send nothing until the webhook is resumed', (store, name) =>
    store.updateWebhook.mutate({ name, paused: true }),
  );
  add('resume', 'continue with the first change that was not accepted', (store, name) =>
    store.updateWebhook.mutate({ name, paused: false }),
  );
  add('rotate', 'make a new secret, and show it once', (store, name) =>
    store.rotateWebhookSecret.mutate({ name }),
  );
  add('delete', 'delete a webhook', (store, name) =>
    store.deleteWebhook.mutate({ name }).then(() => ({ name })),
  );
  add('test', 'send a test message: exit code 1 if not accepted', async (store, name) => {
    const attempt = await store.testWebhook.mutate({ name });
    if (attempt.error !== undefined) process.exitCode = 1;
    return attempt;
  });
  return webhook;
}

type Run = (store: PlantStoreClient, name: string) => Promise<object>;

const createCommand = () =>
  makeCommand('create', 'send each change to an endpoint, and show the secret once', {
    examples: ['webhook create https://partner.example/plants --name partner'],
  })
    .argument('<url>', 'the address of the endpoint')
    .option('--name <name>', 'a name for the webhook (default: the host of the URL)')
    .option('--from <cursor>', 'send the changes after this cursor (default: new changes only)')
    .action(async (url: string, { name, from }: { name?: string; from?: string }) =>
      writeJson(await connect().createWebhook.mutate({ url, name, from })),
    );

const listCommand = () =>
  makeCommand('list', 'show each webhook, but not its secret', {
    examples: ['webhook list'],
  }).action(async () => {
    const store = connect();
    let after: string | undefined;
    do {
      const page = await store.listWebhooks.query({ after, limit: maxPageSize });
      await writeJson(...page.webhooks);
      after = page.next;
    } while (after !== undefined);
  });

const replayCommand = () =>
  makeCommand('replay', 'send changes again', {
    examples: ['webhook replay partner --since 2026-11-21T09:30:00Z'],
  })
    .argument('<name>', 'the name of the webhook')
    .option('--since <time>', 'the changes since this time, in RFC 3339')
    .option('--after <cursor>', 'the changes after this cursor')
    .action(async (name: string, { since, after }: { since?: string; after?: string }) => {
      await connect().replayWebhook.mutate({ name, since, after });
      await writeJson({ name });
    });
