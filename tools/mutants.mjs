// Runs the tests on mutants of the code. A mutant is a small change that a test should notice.
// mutants.config.js lists areas of the code. `npx -y pnpm mutants json transformer` runs only the areas
// `json` and `transformer`.
//
// The command fails when the tests catch less than 90 % of an area's mutants. mutants.baseline.json must list
// exactly the missed mutants, each with a reason. `--write` writes that list.

import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { areas } from './mutants.config.js';

const flags = { write: { type: 'boolean', default: false } };
const { values, positionals } = parseArgs({ allowPositionals: true, options: flags });
const options = {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'tools/vitest.mutants.ts', related: false },
  inPlace: true,
  tsconfigFile: 'none.json',
  disableTypeChecks: false,
  coverageAnalysis: 'perTest',
  concurrency: 1,
  timeoutMS: 15_000,
  tempDirName: '.stryker-tmp',
  reporters: ['dots'],
};
const baselineFile = new URL('mutants.baseline.json', import.meta.url);
const baseline = JSON.parse(await readFile(baselineFile, 'utf8'));

for (const name of positionals.length > 0 ? positionals : Object.keys(areas)) {
  const { mutate } = areas[name];
  process.env.MUTANT_AREA = JSON.stringify(areas[name]); // For vitest.mutants.ts.
  const mutants = await new Stryker({ ...options, mutate }).runMutationTest();
  const missed = mutants.filter(({ status }) => ['Survived', 'NoCoverage'].includes(status));
  const caught = mutants.filter(({ status }) => ['Killed', 'Timeout'].includes(status)).length;
  const total = caught + missed.length;
  console.log(`\n${name}: the tests catch ${caught} of ${total} mutants`);
  if (caught < 0.9 * total) fail('the tests must catch at least 90 %');

  const survivors = new Map();
  for (const mutant of await Promise.all(missed.map(describe)))
    survivors.set(keyOf(mutant), mutant);
  const listed = new Map((baseline[name] ?? []).map((mutant) => [keyOf(mutant), mutant]));
  // A listed mutant that only makes the code slow may time out on a busy machine. The mutant still counts.
  for (const mutant of await Promise.all(mutants.filter(hasTimedOut).map(describe))) {
    const key = keyOf(mutant);
    if (listed.has(key)) survivors.set(key, mutant);
  }
  if (values.write) {
    const keys = [...survivors.keys()].toSorted();
    baseline[name] = keys.map((key) => listed.get(key) ?? survivors.get(key));
    await writeFile(baselineFile, `${JSON.stringify(baseline, undefined, 2)}\n`);
  } else {
    for (const [key, mutant] of survivors) {
      if (!listed.has(key)) fail('a survivor is not in mutants.baseline.json', mutant);
    }
    for (const [key, mutant] of listed) {
      if (!survivors.has(key))
        fail('no survivor now: remove it from mutants.baseline.json', mutant);
    }
  }
  for (const mutant of baseline[name] ?? []) {
    if (!mutant.reason)
      fail('say in mutants.baseline.json why this survivor does not matter', mutant);
  }
}

/** Whether Stryker's timeout, or the timeout of a test, caught a mutant. */
function hasTimedOut({ status, statusReason = '' }) {
  return status === 'Timeout' || statusReason.includes('timed out');
}

/** The first line of the code that a mutant replaces, and the new code. */
async function describe({ fileName, location, replacement }) {
  const lines = (await readFile(fileName, 'utf8')).split('\n');
  return {
    file: relative('.', fileName).replaceAll('\\', '/'),
    line: lines[location.start.line - 1].trim(),
    mutant: replacement.replaceAll(/\s+/g, ' '),
    reason: '',
  };
}

function keyOf({ file, line, mutant }) {
  return JSON.stringify([file, line, mutant]);
}

function fail(message, mutant) {
  console.error(mutant ? `${message}:\n${JSON.stringify(mutant, undefined, 2)}` : message);
  process.exitCode = 1;
}
