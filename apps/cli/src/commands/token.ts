import { type Scope, scopes } from '@plant-store/schemas';
import { Option } from 'commander';
import { makeCommand, makeGroup, parseCount, write, writeJson } from '../command.ts';
import { connect, readPages } from '../store.ts';

export const tokenCommand = () =>
  makeGroup('token', 'manage access tokens, with a token that has the scope tokens:manage')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());

interface CreateOptions {
  days?: number;
  scopes?: Scope[];
  json?: true;
}

const createCommand = () =>
  makeCommand('create', 'create an access token, and show it once')
    .argument('<name>', 'the name of the client, which the log shows')
    .option('--days <count>', 'the days until the token expires (default: never)', parseCount)
    .addOption(new Option('--scopes <scope...>', 'default: create and read').choices(scopes))
    .action(async (name: string, { days, scopes, json }: CreateOptions) => {
      const expiresAt =
        days === undefined ? undefined : new Date(Date.now() + days * 86_400_000).toISOString();
      const created = await connect().createAccessToken.mutate({ name, scopes, expiresAt });
      await (json ? writeJson(created) : write(`${created.token}\n`));
    });

const listCommand = () =>
  makeCommand('list', 'show each access token as a line of JSON, but not its secret').action(
    async () => {
      const { listAccessTokens } = connect();
      const pages = readPages((page) => listAccessTokens.query(page));
      for await (const { tokens } of pages) await writeJson(...tokens);
    },
  );

const revokeCommand = () =>
  makeCommand('revoke', 'revoke an access token, within 30 s')
    .argument('<id>', 'the id from token list')
    .action(async (id: string, { json }: { json?: true }) => {
      await connect().revokeAccessToken.mutate({ id });
      await (json ? writeJson({ id }) : write(`revoked the access token ${id}\n`));
    });
