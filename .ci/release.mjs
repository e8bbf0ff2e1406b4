/**
 * `npx -y pnpm release` prepares a release, and makes its tag. `npx -y pnpm release upload` uploads the packages
 * of the tag. Both commands continue where an earlier run has stopped. docs/release.md explains the steps.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const shell = process.platform === 'win32'; // On Windows, only a shell can run npm and pnpm.
const packed = 'dist-packages';

try {
  if (read('git', 'status', '--porcelain')) {
    throw new Error('commit the changes that `git status` shows');
  }
  if (process.argv[2] === 'upload') upload();
  else prepare();
} catch (error) {
  console.error(`\nThe release stopped: ${error.message}`);
  process.exitCode = 1;
}

function prepare() {
  if (globSync('.changeset/*.md').length > 0) writeVersion();
  const { tag, packages } = current();
  if (read('git', 'tag', '--list', tag) && !isTagged(tag)) {
    throw new Error(
      `${tag} is an earlier commit: describe the changes by \`npx -y pnpm changeset\``,
    );
  }
  run('pnpm', 'audit', '--audit-level', 'moderate', '--ignore-registry-errors');
  run('.ci/run');
  pack(packages);
  checkShapes(packages);
  if (!isTagged(tag)) run('git', 'tag', '--annotate', tag, '--message', tag);
  const missing = missingFields(packages);
  if (missing) console.log(`\nProvenance needs more: ${missing}`);
  console.log(
    `\n${tag} is ready. \`git push --follow-tags\` lets .github/workflows/release.yml upload it.`,
  );
  console.log('`npx -y pnpm release upload` uploads it from here, without provenance.');
}

/** Writes the next version into all packages, their changelogs and the OpenAPI document. */
function writeVersion() {
  run('pnpm', 'changeset', 'version');
  run('pnpm', 'openapi');
  run('pnpm', 'format');
  run('git', 'add', '--all');
  run('git', 'commit', '--quiet', '--message', `Release ${current().version}`);
}

function upload() {
  const { tag, version, packages } = current();
  if (!isTagged(tag)) throw new Error(`this commit is not ${tag}: run \`npx -y pnpm release\``);
  const registry = registryOf('@plant-store:registry') ?? registryOf('registry');
  // Only a workflow with the permission `id-token` can prove to npm where a package was built.
  const hasProvenance = Boolean(process.env.ACTIONS_ID_TOKEN_REQUEST_URL);
  const missing = hasProvenance ? missingFields(packages) : missingLogin(registry);
  if (missing) throw new Error(missing);
  const absent = packages.filter(({ name }) => !isUploaded(`${name}@${version}`, registry));
  if (absent.length === 0) return console.log(`${registry} has all packages of ${tag}.`);
  pack(packages);
  const options = ['--access', 'public', '--registry', registry];
  if (hasProvenance) options.push('--provenance');
  for (const { name } of absent) run('npm', 'publish', tarballOf(name), ...options);
}

/** Makes the tarballs of the packages, unless an earlier run has made them from this commit. */
function pack(packages) {
  const commit = read('git', 'rev-parse', 'HEAD');
  const done = `${packed}/commit`;
  if (existsSync(done) && readFileSync(done, 'utf8') === commit) return;
  rmSync(packed, { recursive: true, force: true });
  const filters = packages.flatMap(({ name }) => ['--filter', name]);
  run('pnpm', ...filters, 'pack', '--out', `${packed}/%s.tgz`);
  writeFileSync(done, commit);
}

/** Checks that users of each package can load its files and its types. */
function checkShapes(packages) {
  for (const { name, exports } of packages) {
    const tarball = tarballOf(name);
    run('pnpm', '--filter', '@plant-store/schemas', 'exec', 'publint', '--strict', tarball);
    // The package of the command line has no types, because no program imports this package.
    if (exports) run('pnpm', 'tool', 'attw', tarball, '--profile', 'esm-only');
  }
}

/** Returns the published packages and their version. Each package comes after its dependencies. */
function current() {
  const manifests = globSync('{packages,apps}/*/package.json')
    .map((path) => JSON.parse(readFileSync(path, 'utf8')))
    .filter((manifest) => !manifest.private);
  const packages = new Set();
  const add = (manifest) => {
    const names = Object.keys(manifest.dependencies ?? {});
    for (const needed of manifests) if (names.includes(needed.name)) add(needed);
    packages.add(manifest);
  };
  for (const manifest of manifests) add(manifest);
  const versions = new Set(manifests.map(({ version }) => version));
  if (versions.size > 1) throw new Error(`the packages have several versions: ${[...versions]}`);
  const [version] = versions;
  return { packages: [...packages], version, tag: `v${version}` };
}

function missingFields(packages) {
  const names = packages.filter(({ repository }) => !repository).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `add \`repository\` to the package.json of ${names.join(', ')}`;
}

function missingLogin(registry) {
  try {
    read('npm', 'whoami', '--registry', registry);
    return undefined;
  } catch {
    return `you are not logged in: run \`npm login --registry ${registry}\``;
  }
}

function isUploaded(name, registry) {
  try {
    return read('npm', 'view', name, 'version', '--registry', registry) !== '';
  } catch {
    return false;
  }
}

function isTagged(tag) {
  return read('git', 'tag', '--points-at', 'HEAD').split('\n').includes(tag);
}

function registryOf(setting) {
  const value = read('npm', 'config', 'get', setting);
  return value === 'undefined' ? undefined : value;
}

function tarballOf(name) {
  return resolve(packed, `${name.replace('@', '').replace('/', '-')}.tgz`);
}

function run(command, ...args) {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  execFileSync(command, args, { stdio: 'inherit', shell });
}

function read(command, ...args) {
  const stdio = ['ignore', 'pipe', 'ignore'];
  return execFileSync(command, args, { encoding: 'utf8', stdio, shell }).trim();
}
