import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface InstalledPackage {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** The names of the packages that npm has installed in a project. */
export async function installed(project: string): Promise<string[]> {
  return [...(await lockedPackages(project)).keys()].sort();
}

/** The names of all packages that npm installs with one package, including the peers of the package. */
export async function broughtBy(project: string, name: string): Promise<string[]> {
  const packages = await lockedPackages(project);
  const names = new Set([name]);
  // A `for` loop over a Set also visits the names that are added during the loop.
  for (const each of names) for (const needed of needsOf(packages.get(each))) names.add(needed);
  names.delete(name);
  return [...names].sort();
}

function needsOf({
  dependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}: InstalledPackage = {}): string[] {
  const peers = Object.keys(peerDependencies);
  return [
    ...Object.keys(dependencies),
    ...peers.filter((peer) => !peerDependenciesMeta[peer]?.optional),
  ];
}

async function lockedPackages(project: string): Promise<Map<string, InstalledPackage>> {
  const text = await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8');
  const lock: { packages: Record<string, InstalledPackage> } = JSON.parse(text);
  const prefix = /^.*node_modules\//;
  return new Map(
    Object.entries(lock.packages).map(([path, each]) => [path.replace(prefix, ''), each]),
  );
}
