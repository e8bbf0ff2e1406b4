/**
 * Compares the OpenAPI document with the document of the last release, which has a tag in git. Fails when a
 * change breaks clients, unless the next release is a major release. Runs in the root of the repository.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { apiCompare } from 'api-smart-diff';

const file = 'apps/api/openapi.json';
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 24 });

const tags = ['tag', '--merged', 'HEAD', '--sort', '-creatordate', '--list'];
const [release] = git(...tags, 'v[0-9]*').split('\n');

if (!release) {
  console.log('this clone has no tag of a release: there is no document to compare');
} else {
  const before = JSON.parse(git('show', `${release}:${file}`));
  const after = JSON.parse(readFileSync(file, 'utf8'));
  const changes = breakingChanges(before, after);
  if (changes.length > 0 && !isMajor(before, after)) {
    for (const change of changes) console.error(`${file} breaks clients of ${release}: ${change}`);
    console.error('keep what the release had, or run `npx -y pnpm changeset` and choose "major"');
    process.exitCode = 1;
  }
}

function breakingChanges(before, after) {
  const { diffs } = apiCompare(before, after);
  // The library also reports a change of a component under each path that uses the component. Only the paths
  // say whether a client sends or receives the component.
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

/** Generators name the functions of a client after the operations. */
function renamesOperation({ action, path }) {
  return action !== 'add' && path.at(-1) === 'operationId';
}

/** Whether the next release is a major release, by its version or by a changeset. */
function isMajor(before, after) {
  const major = ({ info }) => Number(info.version.split('.')[0]);
  const changesets = globSync('.changeset/*.md').map((path) => readFileSync(path, 'utf8'));
  return (
    major(after) > major(before) ||
    changesets.some((text) => /^---$.*^['"]?@plant-store\/\S+: major$.*^---$/ms.test(text))
  );
}
