// Adds up the results that the tests of all packages have written to files. Prints the failed tests, and then
// the totals in one line.
import { existsSync, globSync, readFileSync } from 'node:fs';

const paths = globSync('{apps,packages,examples}/{,*/,*/*/}test-results.*.json', {
  exclude: (name) => name === 'node_modules',
});
const files = paths.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')).testResults);
let passed = 0;
let failed = 0;
for (const { name, status, message, assertionResults } of files) {
  const failures = assertionResults.filter((test) => test.status === 'failed');
  passed += assertionResults.filter((test) => test.status === 'passed').length;
  // A file that fails without a failed test, for example at an import, counts as one failed test.
  failed += status === 'failed' ? Math.max(1, failures.length) : 0;
  if (status === 'failed') console.log(`failed: ${name} ${message}`);
  for (const { fullName, failureMessages } of failures) {
    console.log(`failed: ${fullName}\n${failureMessages.join('\n')}`);
  }
}
// The crash suite does not use vitest, so the totals are in its output.
const crash = existsSync('test-results.crash.txt')
  ? readFileSync('test-results.crash.txt', 'utf8')
  : '';
const totals = /^(\d+) passed, (\d+) failed$/m.exec(crash);
passed += Number(totals?.[1] ?? 0);
failed += Number(totals?.[2] ?? 1);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
