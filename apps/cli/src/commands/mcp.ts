import { Command } from 'commander';
import { CommandError } from '../command-line/errors.ts';
import { readServerSettings } from '../command-line/variables.ts';

const help = `
An assistant starts this command, and talks to it over standard input and output by the Model Context
Protocol. The command uses the store at PLANT_STORE_URL, by default http://127.0.0.1:3000. The assistant may
do what the scopes of the access token in PLANT_STORE_TOKEN allow. Without --write, it may only read.

Example:
  plant-store mcp --write
`;

export const mcpCommand = () =>
  new Command('mcp')
    .summary('let an assistant use a running store')
    .description('Serve a running store to an assistant, by the Model Context Protocol.')
    .option('--write', 'also offer the tools that create and delete plants', false)
    .addHelpText('after', help)
    .action(async ({ write }: { write: boolean }, command: Command) => {
      const settings = readServerSettings();
      const { serveStore } = await import('../mcp/serve-store.ts').catch(explainMissingSdk);
      await serveStore(settings, write, command.parent?.version() ?? '');
    });

/** The SDK is an optional dependency of this package. */
function explainMissingSdk(cause: NodeJS.ErrnoException): never {
  const sdk = '@modelcontextprotocol/server';
  if (cause.code !== 'ERR_MODULE_NOT_FOUND' || !cause.message.includes(`'${sdk}'`)) throw cause;
  const remedy = `run \`npm install ${sdk}@2\`, with --global if plant-store is installed globally`;
  throw new CommandError(`mcp needs the package ${sdk}: ${remedy}`, { cause });
}
