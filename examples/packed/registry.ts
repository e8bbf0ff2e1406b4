import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { atExit, freePort } from '@plant-store/test-setup';
import { install, run } from './run.ts';

/** A plugin of Verdaccio needs the tag `cjs` of node-fetch, and some registries do not have this tag. */
const program = {
  private: true,
  dependencies: { verdaccio: '6.10.4' },
  overrides: { 'node-fetch': '2.7.0' },
};

const configuration = `
storage: ./packages
auth: { htpasswd: { file: ./htpasswd } }
packages: { '@plant-store/*': { access: $all, publish: $authenticated } }
max_body_size: 50mb
log: { type: stdout, level: error }
`;

/**
 * Starts an empty registry on this machine, and logs one user in. With the lines in `npmrc`, npm, pnpm and yarn
 * get our packages from this registry.
 */
export async function startRegistry(directory: string) {
  await mkdir(directory);
  await writeFile(join(directory, 'config.yaml'), configuration);
  await writeFile(join(directory, 'package.json'), JSON.stringify(program));
  await install(directory);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const verdaccio = join(directory, 'node_modules/verdaccio/bin/verdaccio');
  const args = [verdaccio, '--config', 'config.yaml', '--listen', url];
  const child = spawn(process.execPath, args, {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.once(
    'exit',
    atExit(() => child.kill()),
  );
  await waitUntilReady(url, () => child.exitCode);
  const token = await createUser(url);
  const upstream = (await run(directory, 'npm', ['config', 'get', 'registry'])).trim();
  const login = `//${new URL(url).host}/:_authToken=${token}`;
  const npmrc = `registry=${upstream}\n@plant-store:registry=${url}\n${login}\n`;
  return { npmrc, stop: () => child.kill() };
}

async function waitUntilReady(url: string, exitCode: () => number | null): Promise<void> {
  while (exitCode() === null) {
    const isReady = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await setTimeout(100);
  }
  throw new Error(`the registry ended with exit code ${exitCode()}`);
}

/** Creates a user as `npm adduser` does, and returns the user's token. */
async function createUser(url: string): Promise<string> {
  const response = await fetch(`${url}-/user/org.couchdb.user:gardener`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'gardener', password: 'secret-of-the-tests' }),
  });
  // The cast is safe, because the registry defines the format of the response.
  const { token } = (await response.json()) as { token: string };
  return token;
}
