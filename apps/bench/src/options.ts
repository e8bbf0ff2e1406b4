import { parseArgs } from 'node:util';
import { contenders } from './contenders/contenders.ts';
import { type Mode, type ModeOptions, modes } from './modes/modes.ts';
import { scalings } from './modes/scaling/scaling.ts';

export interface Options extends ModeOptions {
  readonly mode: Mode;
  /** The file for everything that was measured. */
  readonly json?: string;
}

/** An error in the command line. */
export class UsageError extends Error {}

const names = contenders.map(({ name }) => name);

export const help = `Measures how fast plants are created and read: by the store, its peers and pgbench.

  npx pnpm bench                      all contenders, 32 connections; about 9 minutes
  npx pnpm bench reading              get by id and list of 100, on a million plants; about 11 minutes
  npx pnpm bench alone                one connection: ours and Fastify + raw postgres.js
  npx pnpm bench scaling [NAME …]     one or more of: ${scalings.join(', ')}
  npx pnpm bench start-up             seconds from the start to the first 200
  npx pnpm bench soak [--minutes 10]  memory under a long load
  npx pnpm bench citus                what a create costs each node of a Citus cluster; about 10 minutes

  --only NAME[,NAME]  measures only these contenders: ${names.join(', ')}
  --quick             shorter rounds and rough figures; all contenders in under two minutes
  --json FILE         writes all measurements to a file
  --help              shows this text`;

/**
 * Reads the command line. Returns undefined for `--help`.
 *
 * @throws UsageError
 */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [mode = 'compare', ...scalingNames] = positionals;
  const only = values.only?.split(',') ?? names;
  const minutes = Number(values.minutes);

  if (!isOneOf(Object.keys(modes) as Mode[], mode)) throw unknown('mode', mode, Object.keys(modes));
  if (scalingNames.length > 0 && mode !== 'scaling') {
    throw new UsageError(`${mode} takes no arguments, but got ${scalingNames.join(' ')}`);
  }
  for (const name of scalingNames) {
    if (!isOneOf(scalings, name)) throw unknown('scaling', name, scalings);
  }
  for (const name of only) if (!names.includes(name)) throw unknown('contender', name, names);
  if (!Number.isInteger(minutes) || minutes < 1) {
    throw new UsageError(
      `--minutes is ${values.minutes}, but must be a whole number of at least 1`,
    );
  }
  return {
    mode,
    scalings: scalings.filter(
      (scaling) => scalingNames.length === 0 || scalingNames.includes(scaling),
    ),
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
  return all.some((known) => known === name);
}

function unknown(kind: string, name: string, all: readonly string[]): UsageError {
  return new UsageError(`there is no ${kind} ${name}: choose from ${all.join(', ')}`);
}
