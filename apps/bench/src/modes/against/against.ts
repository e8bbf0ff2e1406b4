import { existsSync } from 'node:fs';
import type { Server } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { type Checkout, checkOut } from '../../processes/commit-checkout.ts';
import type { Report } from '../../report/report.ts';
import { type CaseName, cases } from './cases.ts';
import { changesTable } from './changes-table.ts';
import { type Candidate, runTurns } from './turns.ts';

/**
 * Compares this working tree with another commit by the CPU time of a create. The servers of both
 * run at the same time and receive load in turns of a few seconds, so that a change in the machine's
 * speed affects both.
 */
export async function against(
  bench: Bench,
  { commit, cases: names, quick }: AgainstOptions,
): Promise<Report> {
  bench.progress(`building ${commit}`);
  const checkout = await checkOut(commit);
  try {
    const candidates = names.flatMap((name): Candidate[] => {
      const now = cases[name];
      const program = programOf(checkout, now.server);
      const before = { ...now, server: { ...now.server, program } };
      return [
        { ...before, name, version: 'before' },
        { ...now, name, version: 'now' },
      ];
    });
    const durations = quick
      ? { rounds: 2, warmUp: 20, turns: 8, seconds: 1 }
      : { rounds: 4, warmUp: 40, turns: 8, seconds: 2 };
    const turns = await runTurns(bench, candidates, durations);
    return {
      text: changesTable(turns),
      goals: [],
      faults: turns.flatMap(({ faults }) => faults),
      measured: turns,
    };
  } finally {
    checkout.remove();
  }
}

interface AgainstOptions {
  readonly commit: string;
  readonly cases: readonly CaseName[];
  readonly quick: boolean;
}

/** The program of our server in another commit; an older commit has it at another place. */
function programOf({ pathOf }: Checkout, { program }: Server): string {
  const path = pathOf(program);
  return existsSync(path) ? path : path.replace('bin/server.js', 'src/main.ts');
}
