// Runs the tests on mutants of the code: small changes that a test should notice. The areas are in
// mutants.config.js; `npx -y pnpm mutants json transformer` runs only these two.
//
// It fails when the tests catch less than 90 % of an area's mutants, or when docs/mutants.md does not
// list exactly those that they miss.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { areas } from '../mutants.config.js';

const page = await readFile(new URL('../docs/mutants.md', import.meta.url), 'utf8');
const named = process.argv.slice(2);

for (const name of named.length > 0 ? named : Object.keys(areas)) {
  const { mutate, tests } = areas[name];
  process.env.MUTANT_TESTS = JSON.stringify(tests); // For vitest.mutants.ts.
  const mutants = await new Stryker({ mutate }).runMutationTest();
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const caught = count('Killed', 'Timeout');
  const total = caught + count('Survived', 'NoCoverage');
  const missed = mutants.filter(({ status }) => ['Survived', 'NoCoverage'].includes(status));
  console.log(`\n${name}: the tests catch ${caught} of ${total} mutants`);

  const rows = [...new Set(await Promise.all(missed.map(describe)))];
  const [, section = ''] = page.split(`\n## ${name}\n`);
  const listed = [...section.split('\n## ')[0].matchAll(/^\| `.*` \| `.*` \|/gm)].map(String);
  const unlisted = rows.filter((row) => !listed.includes(row));
  const outdated = listed.filter((row) => !rows.includes(row));
  for (const row of unlisted) console.log(`not in docs/mutants.md:\n${row} … |`);
  for (const row of outdated) console.log(`caught now, remove it from docs/mutants.md:\n${row}`);
  if (caught < 0.9 * total || unlisted.length > 0 || outdated.length > 0) process.exitCode = 1;
}

/** The first two cells of a mutant's row: its first line of code, and what replaces a part of it. */
async function describe({ fileName, location, replacement }) {
  const lines = (await readFile(fileName, 'utf8')).split('\n');
  const code = `${basename(fileName)}: ${lines[location.start.line - 1]}`;
  return `| \`${cell(code)}\` | \`${cell(replacement)}\` |`;
}

function cell(text) {
  const flat = text.replaceAll(/\s+/g, ' ').replaceAll('|', '¦').replaceAll('`', "'").trim();
  return flat.length > 100 ? `${flat.slice(0, 99)}…` : flat;
}
