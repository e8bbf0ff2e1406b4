import { formatJson } from '@plant-store/schemas/plain';
import { Command } from 'commander';
import { jsonOption } from '../command-line/options.ts';
import { writeOutput } from '../command-line/output.ts';
import { withReader } from '../command-line/with-store.ts';

interface CountOptions {
  tag?: string;
  json?: true;
}

export const countCommand = () =>
  new Command('count')
    .summary('count the plants')
    .description(
      'Count the plants, or those with a tag. The database reads all of them, which may take minutes ' +
        'for many millions.',
    )
    .option('--tag <tag>', 'only plants with this tag')
    .addOption(jsonOption('write the count, or an error, as JSON'))
    .addHelpText('after', '\nExample:\n  plant-store count --tag Araceae\n')
    .action(async ({ tag, json }: CountOptions) => {
      const count = await withReader((reader) => reader.count({ tag }));
      await writeOutput([`${json ? formatJson({ count }) : count}\n`]);
    });
