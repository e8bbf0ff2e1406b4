// Adds up the results that the packages' tests have written to files, and prints one line.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
const results = manifests
  .trim()
  .split('\n')
  .filter((path) => path !== 'package.json')
  .flatMap((path) => {
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
    const tested = Object.entries(suites).filter(([script]) => scripts[script]);
    const files = tested.map(([, suite]) => join(dirname(path), `test-results.${suite}.json`));
    return files.map((file) => JSON.parse(readFileSync(file, 'utf8')));
  });

const tests = results
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ assertionResults }) => assertionResults);
const skipped = tests.filter(({ status }) => !['passed', 'failed'].includes(status));
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);

const sum = (count) => results.reduce((total, result) => total + result[count], 0);
const [passed, failed] = [sum('numPassedTests'), sum('numFailedTests')];
const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`${passed} passed, ${failed} failed${rest}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
