import { parseArgs } from 'node:util';
import { type Contender, contenders } from './contenders.ts';
import { type Scaling, scalings } from './modes/scaling.ts';
import { type Mode, modes } from './modes.ts';

export interface Options {
  readonly mode: Mode;
  readonly scalings: readonly Scaling[];
  readonly contenders: readonly Contender[];
  readonly quick: boolean;
  /** How long a soak takes. */
  readonly minutes: number;
  /** The file that everything measured is written to. */
  readonly json?: string;
}

/** What is wrong with the command line. */
export class UsageError extends Error {}

const names = contenders.map(({ name }) => name);

export const help = `How fast plants are created: the store beside its peers, node:http and pgbench.

  npx pnpm bench                      every contender, 32 connections; about 7 minutes
  npx pnpm bench alone                one connection, ours beside Fastify + raw postgres.js
  npx pnpm bench scaling [WHAT …]     ours with more ${scalings.join(', ')}
  npx pnpm bench start-up             seconds to the first 200
  npx pnpm bench soak [--minutes 10]  memory under load

  --only NAME[,NAME]  these contenders only: ${names.join(', ')}
  --quick             shorter rounds, rough figures; the contenders in under two minutes
  --json FILE         writes everything that was measured to a file
  --help              shows this`;

/**
 * Reads the command line; undefined when it asks for help.
 *
 * @throws UsageError
 */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [mode = 'compare', ...what] = positionals;
  const only = values.only?.split(',') ?? names;
  const minutes = Number(values.minutes);

  if (!isOneOf(Object.keys(modes) as Mode[], mode)) throw unknown('mode', mode, Object.keys(modes));
  if (what.length > 0 && mode !== 'scaling')
    throw new UsageError(`${mode} takes no ${what.join()}`);
  for (const each of what) if (!isOneOf(scalings, each)) throw unknown('scaling', each, scalings);
  for (const each of only) if (!names.includes(each)) throw unknown('contender', each, names);
  if (!Number.isInteger(minutes) || minutes < 1) {
    throw new UsageError(`--minutes is ${values.minutes}: give a whole number from 1`);
  }
  return {
    mode,
    scalings: scalings.filter((each) => what.length === 0 || what.includes(each)),
    contenders: contenders.filter(({ name }) => only.includes(name)),
    quick: values.quick,
    minutes,
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
        minutes: { type: 'string', default: '10' },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function isOneOf<T extends string>(all: readonly T[], name: string): name is T {
  return all.some((each) => each === name);
}

function unknown(what: string, name: string, all: readonly string[]): UsageError {
  return new UsageError(`there is no ${what} ${name}: choose from ${all.join(', ')}`);
}
