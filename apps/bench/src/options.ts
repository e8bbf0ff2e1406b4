import { parseArgs } from 'node:util';
import { contenders } from './contenders/contenders.ts';
import type { IdOrder } from './load/load.ts';
import { caseNames, defaultCases } from './modes/against/cases.ts';
import { type Mode, type ModeOptions, modes } from './modes/modes.ts';
import { scalings } from './modes/scaling/scaling.ts';

export interface Options extends ModeOptions {
  readonly mode: Mode;
  /** The ids of the plants, unless a mode or a contender needs others. */
  readonly idOrder: IdOrder;
  /** The file for everything that was measured. */
  readonly json?: string;
}

/** An error in the command line. */
export class UsageError extends Error {}

const names = contenders.map(({ name }) => name);

export const help = `Measures how fast plants are created and read: by the store, its peers and pgbench.

  npx -y pnpm bench                      all contenders, 32 connections; about 15 minutes
  npx -y pnpm bench against COMMIT [CASE …]
                                      CPU time of a create, this working tree and another commit in
                                      turn, for some of: ${caseNames.join(', ')}
  npx -y pnpm bench reading              get by id and list of 100, on a million plants; about 11 minutes
  npx -y pnpm bench alone                one connection: ours and Fastify + raw postgres.js
  npx -y pnpm bench scaling [NAME …]     one or more of: ${scalings.join(', ')}
  npx -y pnpm bench bulk                 import and export of a million plants, beside psql; about 5 minutes
  npx -y pnpm bench start-up             seconds from the start to the first 200
  npx -y pnpm bench soak [--minutes 10]  memory under a long load
  npx -y pnpm bench citus                what a create costs each node of a Citus cluster; about 10 minutes
  npx -y pnpm bench timing               whether the time to reject a token tells how much of it is right

  --only NAME[,NAME]  measures only these contenders: ${names.join(', ')}
  --ids large|small   ids of 19 digits all over int64 (the default), or 1, 2 and so on
  --quick             shorter rounds and rough figures; all contenders in about three minutes
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
  const [mode = 'compare', ...modeArguments] = positionals;
  const only = values.only?.split(',') ?? names;
  const minutes = Number(values.minutes);

  if (!isOneOf(Object.keys(modes) as Mode[], mode)) throw unknown('mode', mode, Object.keys(modes));
  const scalingNames = mode === 'scaling' ? modeArguments : [];
  const [commit = '', ...cases] = mode === 'against' ? modeArguments : [];
  if (modeArguments.length > 0 && mode !== 'scaling' && mode !== 'against') {
    throw new UsageError(`${mode} takes no arguments, but got ${modeArguments.join(' ')}`);
  }
  if (mode === 'against' && commit === '') {
    throw new UsageError('against needs a commit, such as: npx -y pnpm bench against HEAD~1');
  }
  for (const name of scalingNames) {
    if (!isOneOf(scalings, name)) throw unknown('scaling', name, scalings);
  }
  for (const name of cases) if (!isOneOf(caseNames, name)) throw unknown('case', name, caseNames);
  for (const name of only) if (!names.includes(name)) throw unknown('contender', name, names);
  if (!isOneOf(idSizes, values.ids)) throw unknown('size of ids', values.ids, idSizes);
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
    commit,
    cases: caseNames.filter((name) => (cases.length > 0 ? cases : defaultCases).includes(name)),
    contenders: contenders.filter(({ name }) => only.includes(name)),
    idOrder: values.ids === 'small' ? 'sequential' : 'int64',
    quick: values.quick,
    minutes,
    ...(values.json !== undefined && { json: values.json }),
  };
}

const idSizes = ['large', 'small'] as const;

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        ids: { type: 'string', default: 'large' },
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
