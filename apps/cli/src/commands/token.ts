import type { PlantStoreClient } from '@plant-store/client';
import { errorCatalogue, maxPageSize, type Scope, scopes } from '@plant-store/schemas/plain';
import { Command, Option } from 'commander';
import { makeCommand, parseCount } from '../command.ts';
import { CommandError } from '../errors.ts';
import { write, writeJson } from '../output.ts';
import { connect } from '../store.ts';

export const tokenCommand = () =>
  new Command('token')
    .description('manage access tokens, with a token that has the scope tokens:manage')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());

interface CreateOptions {
  days?: number;
  scopes?: Scope[];
  json?: true;
}

const createCommand = () =>
  makeCommand('create', 'create an access token, and show it once', {
    examples: ['token create partner --days 90 --scopes plants:read'],
  })
    .argument('<name>', 'the name of the client, which the log shows')
    .option('--days <count>', 'the days until the token expires (default: never)', parseCount)
    .addOption(new Option('--scopes <scope...>', 'default: create and read').choices(scopes))
    .action(async (name: string, { days, scopes, json }: CreateOptions) => {
      const expiresAt = days && new Date(Date.now() + days * 86_400_000).toISOString();
      const created = await connect().createAccessToken.mutate({
        name,
        scopes,
        expiresAt: expiresAt || undefined,
      });
      await (json ? writeJson(created) : write(`${created.token}\n`));
    });

const listCommand = () =>
  makeCommand('list', 'show each access token as a line of JSON, but not its secret', {
    examples: ['token list'],
  }).action(async () => {
    for await (const tokens of pages(connect())) await writeJson(...tokens);
  });

const revokeCommand = () =>
  makeCommand('revoke', 'revoke a token by its id, or all tokens with a name, within 30 s', {
    examples: ['token revoke partner'],
  })
    .argument('<id or name>', 'the id or the name from token list')
    .action(async (which: string, { json }: { json?: true }) => {
      const store = connect();
      const revoked: string[] = [];
      for await (const tokens of pages(store)) {
        const found = tokens.filter(({ id, name }) => id === which || name === which);
        revoked.push(...found.filter(({ revokedAt }) => !revokedAt).map(({ id }) => id));
      }
      if (revoked.length === 0) {
        const message = `no valid access token has the id or the name ${JSON.stringify(which)}`;
        throw new CommandError(message, { code: errorCatalogue.accessTokenUnknown.code });
      }
      for (const id of revoked) await store.revokeAccessToken.mutate({ id });
      await (json ? writeJson({ revoked }) : write(`revoked ${revoked.join(', ')}\n`));
    });

async function* pages(store: PlantStoreClient) {
  let after: string | undefined;
  do {
    const page = await store.listAccessTokens.query({ after, limit: maxPageSize });
    yield page.tokens;
    after = page.next;
  } while (after !== undefined);
}
