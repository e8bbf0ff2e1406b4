import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Fault, faults } from './faults.ts';
import { type History, runHistory } from './history.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/*
 * Causes each fault, and random faults, while clients write and read. Checks the results, and prints a row
 * for each history. `created` counts the creates with 200. `unknown` counts the creates with an unknown
 * outcome. `changes` counts the changes that the slowest consumer of the feed has received. `sessions` is the
 * highest number of sessions on Postgres. `first 200` is the longest time from a mend to a server's next 200.
 *
 * --seconds N    how long the random history takes; default: 60
 * --seed N       the seed of the random choices; default: another one in each run
 * --only PATTERN runs only the histories whose name matches the regular expression
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
  },
});
const seed = Number(values.seed);
const randomTime = 1_000 * Number(values.seconds);

/** The report shows at most this many problems of a history. */
const maxProblems = 6;

/** A history mostly waits, so several histories run at the same time. */
const concurrency = 3;

/** A history fails when it takes longer than `randomTime` plus this many milliseconds. */
const patience = 10 * 60_000;

// When this process exits, its exit handlers kill the servers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1));
}

// Only root can mount a disk.
const possible = faults.filter(({ diskSize }) => !diskSize || process.getuid?.() === 0);
const histories = [...possible.map(historyOf), randomHistory(randomTime)].filter(({ name }) =>
  new RegExp(values.only).test(name),
);
console.log(`seed ${seed}\n`);
console.log(rowOf(['fault', 'created', 'unknown', 'changes', 'sessions', 'first 200']));
let failed = 0;
const left = [...histories];
await Promise.all(Array.from({ length: concurrency }, runSome));
console.log(`\n${histories.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || histories.length === 0 ? 1 : 0);

async function runSome(): Promise<void> {
  for (;;) {
    const history = left.shift();
    if (!history) return;
    // A history that never ends must not keep this process and its servers running.
    const outcome = await Promise.race([
      runHistory(history, seed).catch((error) => error as Error),
      setTimeout(patience + randomTime, new Error('the history has not ended')),
    ]);
    const problems =
      outcome instanceof Error ? [outcome.stack ?? String(outcome)] : outcome.problems;
    if (problems.length > 0) failed++;
    const figures = outcome instanceof Error ? [] : outcome.figures;
    console.log(`${rowOf([history.name, ...figures])}  ${problems.length > 0 ? 'FAILED' : 'ok'}`);
    for (const problem of problems.slice(0, maxProblems)) console.log(`    ${problem}`);
    if (problems.length > maxProblems) console.log(`    and ${problems.length - maxProblems} more`);
  }
}

function rowOf([name, ...figures]: [string, ...unknown[]]): string {
  return name.padEnd(40) + figures.map((figure) => String(figure).padStart(10)).join('');
}

/** The history of one fault, which happens once or several times. */
function historyOf(fault: Fault): History {
  let left = fault.times ?? 1;
  return { ...fault, next: () => (left-- > 0 ? fault : undefined) };
}

/** A history of the faults that a seed chooses, one after another. */
function randomHistory(milliseconds: number): History {
  let until: number | undefined;
  const next = (random: Random, { database }: World) => {
    until ??= performance.now() + milliseconds;
    if (performance.now() > until) return undefined;
    const possible = faults.filter(
      ({ isEmbedded, maxFileSize, needsStandby }) =>
        !isEmbedded && !maxFileSize && (!needsStandby || database?.standby),
    );
    const fault = random.pick(possible);
    const { lasts = 0 } = fault;
    return { ...fault, lasts: random.whole(lasts / 4, lasts) };
  };
  return { name: `random faults for ${milliseconds / 1_000} s`, next };
}
