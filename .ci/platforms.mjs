// Checks on any machine that pnpm can install pnpm-lock.yaml on every platform that the README promises.
// Packages for other platforms are not installed here, and the lock file does not list install scripts. So
// this program reads the manifest of a package's sibling: the package of the same program for this machine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const platforms = [
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
  { os: 'linux', cpu: 'x64' },
  { os: 'win32', cpu: 'x64' },
];
const namesPlatform = /(darwin|linux|win32|windows)-(x64|arm64|64)(-|$)/;
const installScripts = ['preinstall', 'install', 'postinstall'];

const workspace = parse(readFileSync('pnpm-workspace.yaml', 'utf8'));
// pnpm-lock.yaml may start with a YAML document about pnpm itself. The last document lists the packages.
const lock = parseAllDocuments(readFileSync('pnpm-lock.yaml', 'utf8')).at(-1).toJS();
const installed = readInstalledManifests();

const errors = [...undecidedInstallScripts(), ...missingVariants(), ...otherNodeVersion()];
for (const error of errors) console.error(error);
process.exitCode = errors.length > 0 ? 1 : 0;

function* undecidedInstallScripts() {
  for (const [key, entry] of Object.entries(lock.packages)) {
    const name = nameOf(key);
    if (!isForOnePlatform(entry) || name in workspace.allowBuilds || !mayHaveScript(key)) continue;
    yield `${key} may have an install script: decide it under allowBuilds in pnpm-workspace.yaml.`;
  }
}

/** While the registry lacks the package for a platform, pnpm omits this package from the lock file. */
function* missingVariants() {
  for (const [snapshot, { optionalDependencies = {} }] of Object.entries(lock.snapshots)) {
    const [key] = snapshot.split('(');
    for (const name of Object.keys(installed.get(key)?.optionalDependencies ?? {})) {
      if (!namesPlatform.test(name) || name in optionalDependencies) continue;
      yield `${key} needs ${name}, which pnpm-lock.yaml does not have: use a version of ${nameOf(key)} that the registry has for every platform.`;
    }
  }
}

/** pnpm checks `engines` against `nodeVersion`, but runs the Node of the catalog. Both must be equal. */
function* otherNodeVersion() {
  const { nodeVersion, catalog = {} } = workspace;
  for (const [name, version] of Object.entries(catalog)) {
    if (!/^node-(linux|win)-/.test(name) || version === nodeVersion) continue;
    yield `nodeVersion is ${nodeVersion} and the catalog's ${name} is ${version}: make them equal in pnpm-workspace.yaml.`;
  }
}

function isForOnePlatform({ os, cpu }) {
  if (!os && !cpu) return false;
  return platforms.some(
    (own) => (os ?? [own.os]).includes(own.os) && (cpu ?? [own.cpu]).includes(own.cpu),
  );
}

/** Whether a package has an install script. Without a manifest on this machine, the result is true. */
function mayHaveScript(key) {
  const known = [key, ...siblingsOf(key)].find((sibling) => installed.has(sibling));
  if (known === undefined) return true;
  const { scripts = {}, gypfile } = installed.get(known);
  return installScripts.some((script) => scripts[script]) || gypfile === true;
}

function siblingsOf(key) {
  return Object.values(lock.snapshots)
    .map(({ optionalDependencies = {} }) =>
      Object.entries(optionalDependencies).map(([name, version]) => `${name}@${version}`),
    )
    .filter((keys) => keys.includes(key))
    .flatMap((keys) => keys.filter((sibling) => isForOnePlatform(lock.packages[sibling] ?? {})));
}

function nameOf(key) {
  return key.slice(0, key.lastIndexOf('@'));
}

function readInstalledManifests() {
  const store = join('node_modules', '.pnpm');
  const folders = readdirSync(store)
    .map((folder) => join(store, folder, 'node_modules'))
    .filter(existsSync);
  const scopes = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('@'))
      .map((name) => join(folder, name)),
  );
  const manifests = [...folders, ...scopes]
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name, 'package.json')))
    .filter(existsSync)
    .map((path) => JSON.parse(readFileSync(path, 'utf8')));
  return new Map(manifests.map((manifest) => [`${manifest.name}@${manifest.version}`, manifest]));
}
