import { parseArgs } from 'node:util';
import { contenders } from './contenders.ts';

export interface Options {
  readonly mode: string;
  readonly contenders: typeof contenders;
  readonly quick: boolean;
  readonly json?: string;
}

/** What is wrong with the command line, and what to do. */
export class UsageError extends Error {}

const names = contenders.map(({ name }) => name);

export const help = `Usage: npx pnpm bench [options]

Measures how fast plants are created: our server beside its peers, node:http and pgbench.

  --only NAME[,NAME]  these contenders only
  --quick             rounds of one second, under two minutes in all: rough figures
  --json FILE         writes everything that was measured, as JSON
  --help              shows this

Contenders: ${names.join(', ')}
`;

/**
 * Reads the command line; undefined when it asks for help.
 *
 * @throws UsageError
 */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [mode = 'compare'] = positionals;
  const only = values.only?.split(',') ?? names;
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`--only ${unknown.join()}: choose from ${names.join(', ')}`);
  }
  return {
    mode,
    contenders: contenders.filter(({ name }) => only.includes(name)),
    quick: values.quick,
    ...(values.json !== undefined && { json: values.json }),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
