import { spawn } from 'node:child_process';
import { chmod, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { atExit, freePort } from '@plant-store/test-setup';
import type { TestProject } from 'vitest/node';
import { install, repository, run } from './run.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The tests make their projects in this directory, which is outside the workspace. */
    directory: string;
    /** The content of an `.npmrc` that names the registry of our packages. */
    npmrc: string;
  }
}

/** A plugin of Verdaccio needs the tag `cjs` of node-fetch, and some registries do not have this tag. */
const program = {
  private: true,
  dependencies: { verdaccio: '6.10.4' },
  overrides: { 'node-fetch': '2.7.0' },
};

const configuration = `
storage: ./packages
auth: { htpasswd: { file: ./htpasswd } }
packages: { '@plant-store/*': { access: $all, publish: $all } }
max_body_size: 50mb
log: { type: stdout, level: error }
`;

/** Publishes the packages to a registry on this machine. The tests install the packages from there. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-installed-'));
  await chmod(directory, 0o755); // A server without root privileges runs in this directory.
  const { url, stop } = await startRegistry(join(directory, 'registry'));
  const upstream = (await run(directory, 'npm', ['config', 'get', 'registry'])).trim();
  // npm asks for a login before it publishes, but this registry accepts any token.
  const login = `//${new URL(url).host}/:_authToken=token-of-the-tests`;
  const npmrc = `registry=${upstream}\n@plant-store:registry=${url}\n${login}\n`;
  await publish(join(directory, 'tarballs'), npmrc);
  project.provide('directory', directory);
  project.provide('npmrc', npmrc);
  return async () => {
    stop();
    await rm(directory, { recursive: true });
  };
}

async function startRegistry(directory: string) {
  await mkdir(directory);
  await writeFile(join(directory, 'config.yaml'), configuration);
  await writeFile(join(directory, 'package.json'), JSON.stringify(program));
  await install(directory);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const verdaccio = join(directory, 'node_modules/verdaccio/bin/verdaccio');
  const args = [verdaccio, '--config', 'config.yaml', '--listen', url];
  const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore' });
  child.once(
    'exit',
    atExit(() => child.kill()),
  );
  const isReady = () =>
    fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`);
    await setTimeout(100);
  }
  return { url, stop: () => child.kill() };
}

/** Packs all packages that are not private, as a release does, and publishes them. */
async function publish(tarballs: string, npmrc: string): Promise<void> {
  await mkdir(tarballs);
  await writeFile(join(tarballs, '.npmrc'), npmrc);
  const paths = await Array.fromAsync(glob('{packages,apps}/*/package.json', { cwd: repository }));
  const manifests = await Promise.all(
    paths.map(async (path) => JSON.parse(await readFile(join(repository, path), 'utf8'))),
  );
  const filters = manifests.flatMap((each) => (each.private ? [] : ['--filter', each.name]));
  await run(repository, 'pnpm', [...filters, 'pack', '--out', join(tarballs, '%s.tgz')]);
  for await (const tarball of glob('*.tgz', { cwd: tarballs })) {
    await run(tarballs, 'npm', ['publish', `./${tarball}`, '--access', 'public']);
  }
}
