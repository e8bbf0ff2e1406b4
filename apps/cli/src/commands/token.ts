import { formatJson } from '@plant-store/schemas';
import { Command } from 'commander';
import { CommandFailure } from '../command-line/errors.ts';
import { parseDuration } from '../command-line/options.ts';
import { writeOut } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';

export const tokenCommand = () =>
  new Command('token')
    .summary('manage access tokens')
    .description('Manage the access tokens that open the store to its clients.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addHelpText('after', '\nExample:\n  plant-store token create partner --expires 90d\n');

const createCommand = () =>
  new Command('create')
    .summary('make a token and show it, this once')
    .description('Make an access token under a name. It is shown once: only its hash is kept.')
    .argument('<name>', 'what its requests are logged under; a name may have several tokens')
    .option('--expires <time>', 'how long it is good for, such as 90d, 12h or 30m', parseDuration)
    .addHelpText('after', '\nExample:\n  plant-store token create partner --expires 90d\n')
    .action(async (name: string, { expires }: { expires?: number }) => {
      const expiresAt = expires === undefined ? undefined : new Date(Date.now() + expires);
      const token = await withStore((store) => store.accessTokens.create(name, { expiresAt }));
      process.stderr.write('Keep this token: it is not shown again.\n');
      await writeOut([`${token}\n`]);
    });

const listCommand = () =>
  new Command('list')
    .summary('show whose tokens there are')
    .description('Show what is known of each token, as a line of JSON; never the token itself.')
    .addHelpText('after', '\nExample:\n  plant-store token list\n')
    .action(async () => {
      const tokens = await withStore((store) => store.accessTokens.list());
      await writeOut(tokens.map((token) => `${formatJson(token)}\n`));
    });

const revokeCommand = () =>
  new Command('revoke')
    .summary('revoke the tokens of a name')
    .description('Revoke every token under a name. Servers refuse them within 30 s.')
    .argument('<name>', 'as it was given to create')
    .addHelpText('after', '\nExample:\n  plant-store token revoke partner\n')
    .action(async (name: string) => {
      if (await withStore((store) => store.accessTokens.revoke(name))) return;
      const message = `there is no token to revoke under ${JSON.stringify(name)}: see plant-store token list`;
      throw new CommandFailure(message);
    });
