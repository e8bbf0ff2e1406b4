import { parseArgs } from 'node:util';
import { contenders } from './contenders/contenders.ts';
import type { Bench } from './measurements/bench.ts';
import type { Report } from './measurements/run-plan.ts';
import { against, creates } from './modes/against.ts';
import { bulk } from './modes/bulk.ts';
import { compare } from './modes/compare.ts';
import { feed } from './modes/feed.ts';
import type { ModeOptions } from './modes/mode-options.ts';
import { reading } from './modes/reading.ts';
import { scalingConnections, scalingInstances, scalingProcesses } from './modes/scaling.ts';
import { startUp } from './modes/start-up.ts';

/** The modes of the benchmark by their names on the command line. */
export const modes = {
  compare,
  against,
  reading,
  'scaling connections': scalingConnections,
  'scaling instances': scalingInstances,
  'scaling processes': scalingProcesses,
  bulk,
  feed,
  'start-up': startUp,
} satisfies Record<string, (bench: Bench, options: ModeOptions) => Promise<Report>>;

export interface Options extends ModeOptions {
  readonly mode: keyof typeof modes;
}

const names = contenders.map(({ name }) => name);
// The cast is safe, because the object `modes` has no other keys than its type.
const modeNames = Object.keys(modes) as (keyof typeof modes)[];

export const help = `Measures how fast plants are created and read: by the store, its peers and pgbench.

  npx -y pnpm bench                      all contenders, 32 connections; about 15 minutes
  npx -y pnpm bench against COMMIT [CREATE …]
                                      CPU time of a create, this working tree and another commit in
                                      turn, for some of: ${Object.keys(creates).join(', ')}
  npx -y pnpm bench reading              gets, lists of 100 and a search, on a million plants; about 11 minutes
  npx -y pnpm bench scaling connections  1 to 1,000 connections
  npx -y pnpm bench scaling instances    1 to 8 servers that share a database
  npx -y pnpm bench scaling processes    a server with 1, 2 and 4 processes
  npx -y pnpm bench bulk                 import and export of a million plants, beside psql; about 5 minutes
  npx -y pnpm bench feed                 creates beside up to 1,000 clients that follow the feed
  npx -y pnpm bench start-up             seconds from the start to the first 200

  --only NAME[,NAME]  measures only these contenders: ${names.join(', ')}
  --quick             shorter rounds and rough figures; all contenders in about three minutes
  --rounds N          the number of rounds
  --help              shows this text`;

/**
 * Reads the command line. Returns undefined for `--help`.
 *
 * @throws an Error that lists the valid values
 */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string', default: names.join() },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.split(',');
  const rounds = Number(values.rounds ?? 1);
  for (const name of only) expectOneOf(names, 'contender', name);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds is ${values.rounds}, but must be a whole number of at least 1`);
  }
  return {
    ...modeOf(positionals.length > 0 ? positionals : ['compare']),
    contenders: contenders.filter(({ name }) => only.includes(name)),
    quick: values.quick,
    ...(values.rounds !== undefined && { rounds }),
  };
}

/** Finds the mode and the words after the mode. The name of a mode may have two words. */
function modeOf(positionals: string[]): Pick<Options, 'mode' | 'words'> {
  const text = positionals.join(' ');
  const mode = modeNames.find((name) => `${text} `.startsWith(`${name} `));
  if (!mode) throw unknown('mode', text, modeNames);
  const words = positionals.slice(mode.split(' ').length);
  if (mode !== 'against' && words.length > 0) {
    throw new Error(`${mode} takes no arguments, but got ${words.join(' ')}`);
  }
  if (mode === 'against' && words.length === 0) {
    throw new Error('against needs a commit, such as: npx -y pnpm bench against HEAD~1');
  }
  for (const name of words.slice(1)) expectOneOf(Object.keys(creates), 'kind of create', name);
  return { mode, words };
}

function expectOneOf(all: readonly string[], kind: string, name: string): void {
  if (!all.includes(name)) throw unknown(kind, name, all);
}

function unknown(kind: string, name: string, all: readonly string[]): Error {
  return new Error(`there is no ${kind} ${name}: choose from ${all.join(', ')}`);
}
