import type { PlantStoreClient } from '@plant-store/client';
import type { Command } from 'commander';
import { makeCommand, makeGroup, writeJson } from '../command.ts';
import { connect, readPages } from '../store.ts';

/** Each of these commands writes lines of JSON, even without `--json`. */
export function webhookCommand(): Command {
  const description = 'manage webhooks, with a token that has the scope webhooks:manage';
  const webhook = makeGroup('webhook', description)
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(replayCommand());

  /** Adds a command that works on one webhook. */
  const add = (command: string, summary: string, run: Run) =>
    webhook.addCommand(
      makeCommand(command, summary)
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
  makeCommand('create', 'send each change to an endpoint, and show the secret once')
    .argument('<url>', 'the address of the endpoint, such as https://partner.example/plants')
    .option('--name <name>', 'a name for the webhook (default: the host of the URL)')
    .option('--from <cursor>', 'send the changes after this cursor (default: new changes only)')
    .action(async (url: string, { name, from }: { name?: string; from?: string }) =>
      writeJson(await connect().createWebhook.mutate({ url, name, from })),
    );

const listCommand = () =>
  makeCommand('list', 'show each webhook, but not its secret').action(async () => {
    const { listWebhooks } = connect();
    const pages = readPages((page) => listWebhooks.query(page));
    for await (const { webhooks } of pages) await writeJson(...webhooks);
  });

const replayCommand = () =>
  makeCommand('replay', 'send changes again')
    .argument('<name>', 'the name of the webhook')
    .option('--since <time>', 'the changes since this time, such as 2026-11-21T09:30:00Z')
    .option('--after <cursor>', 'the changes after this cursor')
    .action(async (name: string, { since, after }: { since?: string; after?: string }) => {
      await connect().replayWebhook.mutate({ name, since, after });
      await writeJson({ name });
    });
