import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { createDatabase, freePort, unprivilegedUser } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { makeProject } from './project.ts';
import { repository, run } from './run.ts';

// The installation from the registry may be slow.
vi.setConfig({ testTimeout: 600_000 });

/** Reads a file of names and values. Returns a function that finds the values of a name (an expression). */
async function readValues(file: string, separator: ' ' | '=') {
  const text = await readFile(join(repository, 'deploy', file), 'utf8');
  return (name: string) =>
    [...text.matchAll(new RegExp(`^${name}${separator}(.*)$`, 'gm'))].map(
      ([, value = '']) => value,
    );
}

const settingsIn = (values: string[]) => parseEnv(values.join('\n').replaceAll(' ', '\n'));

it('the files in the folder `deploy` install the packages, and start a server without root privileges', async () => {
  const image = await readValues('Dockerfile', ' ');
  const [build, users, commands, healthChecks] = ['RUN', 'USER', 'CMD', 'HEALTHCHECK'].map(image);
  expect(['FROM', 'WORKDIR', 'EXPOSE'].flatMap(image)).toEqual([
    ...['node:24-slim', '/plant-store', '3000 9464'],
  ]);
  // The test uses all instructions of the Dockerfile.
  expect(image('(?!FROM|WORKDIR|ARG|RUN|USER|ENV|EXPOSE|HEALTHCHECK|CMD)[A-Z]+')).toEqual([]);
  const directory = await makeProject('image');
  // The test does not clean npm's cache, because other tests use the cache.
  const [install = ''] = String(build).split(' && npm cache clean');
  await run(directory, 'sh', ['-c', `${install} --prefer-offline`], settingsIn(image('ARG')));
  await chmod(inject('directory'), 0o755);
  expect(users).toEqual(['node']);

  const port = await freePort();
  const user = await unprivilegedUser();
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const env = { PATH, ...settingsIn(image('ENV')), ...(await serverSettings(port)) };
  const started = { cwd: directory, ...user, env };
  await servesAndStops(JSON.parse(String(commands)), started, port, async () => {
    const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200); // The console.
    const [, healthCheck = ''] = String(healthChecks).split(' CMD ');
    const [file, ...args]: [string, ...string[]] = JSON.parse(healthCheck);
    const onPort = args.map((argument) => argument.replace('127.0.0.1:3000', `127.0.0.1:${port}`));
    await promisify(execFile)(file, onPort, started);
  });

  const values = await readValues('plant-store.service', '=');
  expect(values('NoNewPrivileges')).toEqual(['yes']);
  expect(values('WorkingDirectory')).toEqual(['/opt/plant-store']);
  const [command = ''] = values('ExecStart');
  const service = { ...started, env: { ...settingsIn(values('Environment')), ...env } };
  await servesAndStops([command.replace('/opt/plant-store', directory)], service, port);
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
