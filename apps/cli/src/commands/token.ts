import type { PlantStoreClient } from '@plant-store/client';
import { errorCatalogue, maxPageSize, type Scope, scopes } from '@plant-store/schemas/plain';
import { Command, InvalidArgumentError } from 'commander';
import { examples, parseExpiry } from '../arguments.ts';
import { CommandError } from '../errors.ts';
import { write, writeJson } from '../output.ts';
import { connect } from '../store.ts';

export const tokenCommand = () =>
  new Command('token')
    .summary('manage access tokens')
    .description('Manage the access tokens of clients. Needs a token with the scope tokens:manage.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addHelpText('after', examples('token list'));

interface CreateOptions {
  expires?: string;
  scopes: Scope[];
  json?: true;
}

const createCommand = () =>
  new Command('create')
    .summary('create an access token, and show it once')
    .description('Create an access token, and show it. The store cannot show the token again.')
    .argument('<name>', 'the name of the client, which the log shows')
    .option('--expires <duration>', 'the time until the token expires: 90d, 12h, 30m', parseExpiry)
    .option(
      '--scopes <scope,...>',
      `what the token may do: ${scopes.join(', ')}; read stands for plants:read`,
      parseScopes,
      parseScopes('create,read'),
    )
    .option('--json', 'write the id and the token, or an error, as JSON')
    .addHelpText('after', examples('token create partner --expires 90d --scopes read'))
    .action(async (name: string, { expires: expiresAt, scopes, json }: CreateOptions) => {
      const input = { name, scopes, expiresAt };
      const created = await connect().createAccessToken.mutate(input);
      await (json ? writeJson(created) : write(`${created.token}\n`));
    });

const listCommand = () =>
  new Command('list')
    .summary('show all access tokens')
    .description(
      'Show each access token as a line of JSON, the newest first, but never its secret.',
    )
    .option('--json', 'also write an error as JSON')
    .addHelpText('after', examples('token list'))
    .action(async () => {
      for await (const tokens of pages(connect())) await writeJson(...tokens);
    });

const revokeCommand = () =>
  new Command('revoke')
    .summary('revoke access tokens')
    .description('Revoke the token with this id, or all tokens with this name. Takes up to 30 s.')
    .argument('<id or name>', 'the id or the name from token list')
    .option('--json', 'write the revoked ids, or an error, as JSON')
    .addHelpText('after', examples('token revoke partner'))
    .action(async (which: string, { json }: { json?: true }) => {
      const store = connect();
      const revoked: string[] = [];
      for await (const tokens of pages(store)) {
        const found = tokens.filter(({ id, name }) => id === which || name === which);
        revoked.push(...found.filter(({ revokedAt }) => !revokedAt).map(({ id }) => id));
      }
      if (revoked.length === 0) {
        const message = `no valid access token has the id or the name ${JSON.stringify(which)}: plant-store token list shows all`;
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

function parseScopes(text: string): Scope[] {
  return text.split(',').map((name) => {
    const scope = scopes.find((each) => name === each || `plants:${name}` === each);
    if (scope) return scope;
    throw new InvalidArgumentError(`It must be one or more of ${scopes.join(', ')}, with commas.`);
  });
}
