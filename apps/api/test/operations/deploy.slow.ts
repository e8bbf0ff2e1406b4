import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { createDatabase, freePort, unprivilegedUser } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { readDockerfile } from './dockerfile-steps.ts';

const execute = promisify(execFile);
const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const read = (name: string) => readFile(join(repository, 'deploy', name), 'utf8');

it('builds a server from the Dockerfile, and the server does not run as root', async () => {
  const [build, image] = readDockerfile(await read('Dockerfile'));
  const ignored = (await read('Dockerfile.dockerignore')).trim().split('\n');
  const root = await mkdtemp(join(tmpdir(), 'plant-store-image-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await chmod(root, 0o755);
  const home = join(root, 'home');
  await mkdir(home);
  // The installation may need other environment variables of this machine.
  const env = { ...process.env, HOME: home, NODE_ENV: undefined };

  for (const stage of [build, image]) {
    if (!stage) throw new Error('the Dockerfile has two stages');
    const directory = join(root, stage.name || 'image');
    await mkdir(directory);
    for (const { instruction, argument } of stage.steps) {
      if (instruction === 'RUN') await execute('sh', ['-c', argument], { cwd: directory, env });
      else await copy(argument, directory);
    }
  }
  expect(image?.user).toBe('node');

  async function copy(argument: string, directory: string): Promise<void> {
    const [, from, source = '', target = ''] =
      /^(?:--from=(\w+) \/plant-store\/)?(\S+) (\S+)$/.exec(argument) ?? [];
    const base = from ? join(root, from) : repository;
    await cp(join(base, source), join(directory, target), {
      recursive: true,
      filter: (path) => from !== undefined || !isIgnored(relative(repository, path), ignored),
    });
  }

  const port = await freePort();
  const settings = await serverSettings(port);
  const directory = join(root, 'image');
  const user = await unprivilegedUser();
  const started = {
    cwd: directory,
    ...user,
    env: { PATH: nodePath(), ...image?.env, ...settings },
  };
  await servesAndStops(image?.command ?? [], started, port, async () => {
    const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200); // The console.
    const [file = '', ...args] = image?.healthCheck ?? [];
    const onPort = args.map((argument) => argument.replace('127.0.0.1:3000', `127.0.0.1:${port}`));
    await execute(file, onPort, started);
  });
});

it("runs the unit's command unchanged", async () => {
  const unit = await read('plant-store.service');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  expect(values('NoNewPrivileges')).toEqual(['yes']);
  expect(values('WorkingDirectory')).toEqual(['/opt/plant-store']);
  const [command = ''] = values('ExecStart');
  const port = await freePort();
  const env = { ...parseEnv(values('Environment').join('\n')), ...(await serverSettings(port)) };
  const argv = command.replaceAll('/opt/plant-store/', repository).split(' ');
  await servesAndStops(argv, { cwd: repository, env }, port);
});

it('the compose file names the Dockerfile, and only settings that the server has', async () => {
  const text = await read('compose.yaml');
  const names = [...text.matchAll(/^ +(PLANT_STORE_\w+|DATABASE_URL):/gm)].map(([, name]) => name);
  expect(names).toEqual(['DATABASE_URL', 'PLANT_STORE_TOKEN', 'PLANT_STORE_PROCESSES']);
  expect(Object.keys(readEnv({}))).toEqual(expect.arrayContaining(names));
  expect(text).toContain('build: { context: .., dockerfile: deploy/Dockerfile }');
});

const serverSettings = async (port: number) => ({
  DATABASE_URL: await createDatabase(inject('postgresUrl')),
  PLANT_STORE_TOKEN: 'secret-of-the-tests',
  PLANT_STORE_PROCESSES: '2',
  PLANT_STORE_METRICS_PORT: '0',
  PLANT_STORE_DRAIN_DELAY_MS: '0',
  PLANT_STORE_ENV_FILE: '/dev/null',
  PORT: String(port),
});

/** Returns a PATH that begins with the Node of the tests. */
const nodePath = () => `${dirname(process.execPath)}:${process.env['PATH']}`;

async function servesAndStops(
  [file = '', ...args]: string[],
  options: { cwd: string; env: Record<string, string | undefined> },
  port: number,
  whileServing = async () => {},
): Promise<void> {
  const server = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  server.stdout.resume();
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  await expect.poll(() => ready().catch(() => 0)).toBe(200);
  await whileServing();
  server.kill('SIGTERM');
  expect(await once(server, 'exit')).toEqual([0, null]);
}

/** Returns whether a pattern of the `.dockerignore` matches a path, or a name in any directory. */
function isIgnored(path: string, patterns: string[]): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith('**/') ? basename(path) === pattern.slice(3) : path === pattern,
  );
}
