// Adds up what the packages' tests have left in their files of results, and prints one line.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const manifests = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], {
  encoding: 'utf8',
});
const files = {
  test: 'test-results.json',
  'test:packed': 'test-results.packed.json',
  'test:versions': 'test-results.versions.json',
  'test:faults': 'test-results.faults.json',
};
const results = manifests
  .trim()
  .split('\n')
  .filter((path) => path !== 'package.json')
  .flatMap((path) => {
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
    const tested = Object.entries(files).filter(([script]) => scripts[script]);
    return tested.map(([, file]) => JSON.parse(readFileSync(join(dirname(path), file), 'utf8')));
  });

const totals = { passed: 0, failed: 0, skipped: 0 };
for (const result of results) {
  totals.passed += result.numPassedTests;
  totals.failed += result.numFailedTests;
  totals.skipped += result.numPendingTests + result.numTodoTests;
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;
