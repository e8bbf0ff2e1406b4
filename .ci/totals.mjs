// Reads the results that the tests of all packages have written to files. Prints the failed tests, and then
// the totals in one line.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const manifests = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], {
  encoding: 'utf8',
});
const suites = {
  test: 'test',
  'test:slow': 'slow',
  'test:worked': 'worked',
  'test:packed': 'packed',
  'test:versions': 'versions',
  'test:faults': 'faults',
  'test:histories': 'histories',
};
const files = manifests
  .trim()
  .split('\n')
  .filter((path) => path !== 'package.json')
  .flatMap((path) => {
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
    const tested = Object.entries(suites).filter(([script]) => scripts[script]);
    return tested.map(([, suite]) => join(dirname(path), `test-results.${suite}.json`));
  });
const missing = files.filter((file) => !existsSync(file));
for (const file of missing) console.log(`no results: ${file}`);
const results = files
  .filter((file) => !missing.includes(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));

const failedFiles = results.flatMap(({ testResults }) => testResults.filter(isFailed));
for (const { name, message, assertionResults } of failedFiles) {
  console.log(`failed: ${name} ${message}`);
  for (const { fullName, failureMessages } of assertionResults.filter(isFailed)) {
    console.log(`failed: ${fullName}\n${failureMessages.join('\n')}`);
  }
}

const tests = results
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ assertionResults }) => assertionResults);
const skipped = tests.filter(({ status }) => !['passed', 'failed'].includes(status));
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);

const sum = (count) => results.reduce((total, result) => total + result[count], 0);
const [passed, failed] = [sum('numPassedTests'), sum('numFailedTests')];
const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`${passed} passed, ${failed} failed${rest}`);
process.exitCode = failedFiles.length + failed + missing.length > 0 || passed === 0 ? 1 : 0;

function isFailed({ status }) {
  return status === 'failed';
}
