/**
 * Compares the OpenAPI document with the document of the last release, which has a tag in git. When a change
 * breaks clients, the check fails, unless the next release is a major release. Run this file in the root of
 * the repository.
 */
import { readFileSync } from 'node:fs';
import { apiCompare } from 'api-smart-diff';
import { git, lastRelease, reportBreaks } from './last-release.mjs';

const file = 'apps/api/openapi.json';
const release = lastRelease();

if (release) {
  const before = JSON.parse(git('show', `${release}:${file}`));
  const after = JSON.parse(readFileSync(file, 'utf8'));
  const breaks = breakingChanges(before, after);
  reportBreaks(breaks.map((change) => `${file} breaks clients of ${release}: ${change}`));
}

function breakingChanges(before, after) {
  const { diffs } = apiCompare(before, after);
  // This check ignores changes under `components`. The library reports the same changes under each path that
  // uses the component, and only a path says whether a client sends or receives the component.
  return diffs
    .filter(({ path: [part] }) => part !== 'components')
    .filter((diff) => diff.type === 'breaking' || removesField(diff) || renamesOperation(diff))
    .map(({ action, path, before: old, after: now }) => {
      const values = [old, now].filter((value) => typeof value !== 'object').join(' → ');
      return `${action} ${path.join(' ')}${values && `: ${values}`}`;
    });
}

/** The library allows the removal of an optional field from a response, but clients may read this field. */
function removesField({ action, path }) {
  return action === 'remove' && path.includes('responses') && path.at(-2) === 'properties';
}

/** Generators of clients name each function after an operation, so a new name breaks programs. */
function renamesOperation({ action, path }) {
  return action !== 'add' && path.at(-1) === 'operationId';
}
