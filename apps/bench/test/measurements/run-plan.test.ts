import { expect, it } from 'vitest';
import { type Case, runPlan } from '../../src/measurements/run-plan.ts';
import { atMost } from '../../src/report/goals.ts';

/** Makes cases that log their steps. The first measured cost is 1, the second cost is 2, and so on. */
function loggedCases(names: string[]) {
  const log: string[] = [];
  let cost = 0;
  const cases = names.map((name): Case<{ cost: number }> => {
    return {
      name,
      title: name.toUpperCase(),
      async start() {
        log.push(`start ${name}`);
        return {
          async measure() {
            log.push(name);
            return { cost: ++cost };
          },
          async stop() {
            log.push(`stop ${name}`);
            return [`fault of ${name}`];
          },
        };
      },
    };
  });
  return { log, cases };
}

const silent = { progress: () => {} };

it('starts each round with another case, and stops each case before the next case starts', async () => {
  const { log, cases } = loggedCases(['a', 'b']);
  await runPlan(silent, { cases, rounds: 2, table: () => '' });
  expect(log.join()).toBe('start a,a,stop a,start b,b,stop b,start b,b,stop b,start a,a,stop a');
});

it('starts all cases together when there are turns, and reverses every second turn', async () => {
  const { log, cases } = loggedCases(['a', 'b']);
  await runPlan(silent, { cases, rounds: 1, turns: 3, table: () => '' });
  expect(log.join()).toBe('start a,start b,a,b,b,a,a,b,stop a,stop b');
});

it('reports the goals, the faults, and the results in the order of the cases', async () => {
  const { cases } = loggedCases(['a', 'b']);
  const lines: string[] = [];
  const report = await runPlan(
    { progress: (line) => lines.push(line) },
    {
      cases,
      rounds: 3,
      table: (results) => JSON.stringify(results.map(({ title, rounds }) => [title, rounds])),
      goals: (of) => [atMost(4, 'a', of('a', 'cost')), atMost(4, 'other', of('other', 'cost'))],
    },
  );
  const costs = (...all: number[]) => all.map((cost) => [{ cost }]);
  expect(JSON.parse(report.text)).toEqual([
    ['A', costs(1, 4, 5)],
    ['B', costs(2, 3, 6)],
  ]);
  expect(report.goals.map(({ measured }) => measured)).toEqual([4, Number.NaN]);
  expect(report.faults).toEqual([
    ...Array(3).fill('A: fault of a'),
    ...Array(3).fill('B: fault of b'),
  ]);
  expect(lines[0]).toBe('round 1 of 3: A: cost 1.00');
});

it('stops the started cases when another case cannot start', async () => {
  const { log, cases } = loggedCases(['a']);
  const broken = { name: 'b', title: 'B', start: () => Promise.reject(new Error('no port')) };
  const plan = { cases: [...cases, broken], rounds: 1, turns: 2, table: () => '' };
  await expect(runPlan(silent, plan)).rejects.toThrow('no port');
  expect(log).toEqual(['start a', 'stop a']);
});
