import type { PlantStore } from '@plant-store/core';
import { errorCatalogue, formatJson, maxPageSize, type Scope } from '@plant-store/schemas/plain';
import { Command, Option } from 'commander';
import { CommandError, usageError } from '../command-line/errors.ts';
import { parseDuration, parseScopes, scopeNames } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';

export const tokenCommand = () =>
  new Command('token')
    .summary('manage access tokens')
    .description('Manage the access tokens of the API clients.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addHelpText('after', '\nExample:\n  plant-store token create partner --expires 90d\n');

interface CreateOptions {
  expires?: number;
  scopes: Scope[];
  json?: true;
}

const createCommand = () =>
  new Command('create')
    .summary('create an access token and show it once')
    .description(
      'Create an access token with a name, and show the token. The store keeps only a hash of the ' +
        'token, so nobody can see the token again.',
    )
    .argument('<name>', "the principal's name in the logs; several tokens may share a name")
    .option(
      '--expires <duration>',
      'the time until the token expires: 90d, 12h, 30m',
      parseDuration,
    )
    .addOption(
      new Option('--scopes <scope,...>', 'what the token may do, separated by commas')
        .choices(scopeNames)
        .argParser(parseScopes)
        .default(parseScopes('create,read'), 'create,read'),
    )
    .option('--json', 'write the name, the scopes and the token, or an error, as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  plant-store token create partner --expires 90d\n' +
        '  plant-store token create dashboard --scopes read\n',
    )
    .action(async (name: string, { expires, scopes, json }: CreateOptions) => {
      const token = await withStore(
        (store) => store.accessTokens.create(name, { scopes, expiresIn: expires }),
        { needs: { access_tokens: ['INSERT'] } },
      );
      process.stderr.write('Keep this access token: the store cannot show it again.\n');
      await writeOutput([json ? `${formatJson({ name, scopes, token })}\n` : `${token}\n`]);
    });

const listCommand = () =>
  new Command('list')
    .summary('show the id, the name, the scopes and the times of each access token')
    .description(
      'Show the id, the name and the scopes of each access token, and when it was created, expires, was ' +
        'revoked and was last used, as a line of JSON. The newest come first. Never shows the token itself.',
    )
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', '\nExample:\n  plant-store token list\n')
    .action(() =>
      withStore(({ accessTokens }) => writeOutput(linesOf(accessTokens)), {
        readOnly: true,
        needs: { access_tokens: ['SELECT'] },
      }),
    );

async function* linesOf(accessTokens: PlantStore['accessTokens']): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const { tokens, next } = await accessTokens.list({ after, limit: maxPageSize });
    yield tokens.map((token) => `${formatJson(token)}\n`).join('');
    after = next;
  } while (after !== undefined);
}

const revokeCommand = () =>
  new Command('revoke')
    .summary('revoke all access tokens with a name, or one token by its id')
    .description(
      'Revoke all access tokens with this name. Servers reject these tokens within 30 s.',
    )
    .argument('[name]', 'the name from token create')
    .option('--id <id>', 'revoke only the token with this id from token list')
    .option('--json', 'write the name, or an error, as JSON')
    .addHelpText('after', '\nExample:\n  plant-store token revoke partner\n')
    .action(async (name: string | undefined, { id, json }: { id?: string; json?: true }) => {
      const which = id === undefined ? name : { id };
      if (which === undefined || (id !== undefined && name !== undefined)) {
        throw usageError('token revoke needs a name or --id, and not both');
      }
      const isRevoked = await withStore(({ accessTokens }) => accessTokens.revoke(which), {
        create: false,
        needs: { access_tokens: ['SELECT', 'UPDATE'] },
      });
      if (!isRevoked) {
        const message = `no access token has the ${id === undefined ? 'name' : 'id'} ${JSON.stringify(id ?? name)}: plant-store token list shows all tokens`;
        throw new CommandError(message, { code: errorCatalogue.accessTokenUnknown.code });
      }
      if (json) await writeOutput([`${formatJson(id === undefined ? { name } : { id })}\n`]);
    });
