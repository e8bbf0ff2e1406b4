import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

export const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });

/** Returns the tag of the last release. Without a tag, there is nothing to compare. */
export function lastRelease() {
  const tags = ['tag', '--merged', 'HEAD', '--sort', '-creatordate', '--list'];
  const [release] = git(...tags, 'v[0-9]*').split('\n');
  if (!release) console.log('this clone has no tag of a release: there is nothing to compare');
  return release;
}

/** Fails when there are breaking changes, unless the next release is a major release. */
export function reportBreaks(breaks) {
  if (breaks.length === 0 || isMajor()) return;
  for (const text of breaks) console.error(text);
  console.error('keep what the release had, or run `npx -y pnpm changeset` and choose "major"');
  process.exitCode = 1;
}

/** Whether the version or a changeset says that the next release is a major release. */
function isMajor() {
  const major = (text) => Number(JSON.parse(text).info.version.split('.')[0]);
  const file = 'apps/api/openapi.json';
  const before = major(git('show', `${lastRelease()}:${file}`));
  const changesets = globSync('.changeset/*.md').map((path) => readFileSync(path, 'utf8'));
  return (
    major(readFileSync(file, 'utf8')) > before ||
    changesets.some((text) => /^---$.*^['"]?@plant-store\/\S+: major$.*^---$/ms.test(text))
  );
}
