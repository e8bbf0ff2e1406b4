// Adds up what the packages' tests have left in `test-results.json`, and prints one line.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const manifests = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], {
  encoding: 'utf8',
});
const packages = manifests
  .trim()
  .split('\n')
  .filter((path) => path !== 'package.json');
const tested = packages.filter((path) => JSON.parse(readFileSync(path, 'utf8')).scripts?.test);

const totals = { passed: 0, failed: 0, skipped: 0 };
for (const path of tested) {
  const results = JSON.parse(readFileSync(join(dirname(path), 'test-results.json'), 'utf8'));
  totals.passed += results.numPassedTests;
  totals.failed += results.numFailedTests;
  totals.skipped += results.numPendingTests + results.numTodoTests;
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;
