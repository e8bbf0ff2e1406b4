import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import {
  createDatabase,
  freePort,
  hasPosixShell,
  type StartedProcess,
  startProcess,
} from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';

const PLANT_STORE_TOKEN = 'secret-of-the-tests';
let databaseUrl: string;
let store: PlantStore;
let port: number;
let server: StartedProcess;

async function startServer(): Promise<void> {
  const settings = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN, PORT: String(port) };
  server = startProcess(settings);
  await server.listening();
}

async function stopServer(): Promise<void> {
  server.child.kill();
  await server.ended();
}

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  store = await openPlantStore({ databaseUrl });
  port = await freePort();
  await startServer();
});

afterAll(async () => {
  await stopServer();
  await store.close();
});

const url = () => `http://127.0.0.1:${port}`;

function run(command: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], PLANT_STORE_TOKEN, PLANT_STORE_URL: url() };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { output: () => output, ended };
}

let lastId = 2n ** 53n;

/** Creates plants until the program has connected and prints a plant. */
const firstOutput = (output: () => string) =>
  expect
    .poll(
      async () => {
        await store.create({ id: ++lastId, name: 'Monstera' });
        return output();
      },
      { timeout: 60_000, interval: 100 },
    )
    .toContain('Monstera');

/** Stops the server, creates two plants, deletes the first of the two, and starts the server again. */
async function restartServer(): Promise<void> {
  await stopServer();
  await store.create({ id: ++lastId, name: 'Hoya' });
  await store.delete(lastId);
  await store.create({ id: ++lastId, name: 'Ficus' });
  await startServer();
}

const programs = [
  { file: 'events.ts', command: process.execPath },
  { file: 'events.py', command: 'python3' },
].filter(({ command }) => spawnSync(command, ['--version']).status === 0);

it.each(programs)(
  '$file prints each change once, even across a restart of the server',
  async ({ file, command }) => {
    const { output } = run(command, fileURLToPath(new URL(file, import.meta.url)));
    await firstOutput(output);
    await restartServer();
    await expect.poll(output, { timeout: 60_000 }).toContain('Ficus');
    expectEach(output());
  },
);

/** Expects that the program has printed each change once, from its first output to the last change. */
function expectEach(output: string): void {
  const seen = [...output.matchAll(/(created|deleted)(?:\ndata:)? \{['"]id['"]: ?(\d+)/g)];
  const first = BigInt(seen[0]?.[2] ?? 0);
  const expected = Array.from({ length: Number(lastId - first) + 1 }, (_, i) => first + BigInt(i));
  expect(seen.map(([, type, id]) => `${type} ${id}`)).toEqual(
    expected.map((id) => `${id === lastId - 1n ? 'deleted' : 'created'} ${id}`),
  );
}

it.runIf(hasPosixShell)(
  'the curl command of the page prints each change, and continues after a restart of the server',
  async () => {
    const page = await readFile(new URL('../docs/feed.md', import.meta.url), 'utf8');
    const [, shown = ''] = /^```sh\n(.*?)^```/ms.exec(page) ?? [];
    const command = shown.replace('http://127.0.0.1:3000', url()).replace('curl', 'exec curl -s');
    const first = run('sh', '-c', command);
    await firstOutput(first.output);
    await restartServer();
    await first.ended;
    const [, id = ''] = /.*\nid: (\S+)/s.exec(first.output()) ?? [];
    const second = run('sh', '-c', command.replace('/changes', `/changes?after=${id}`));
    await expect.poll(second.output, { timeout: 60_000 }).toContain('Ficus');
    expectEach(first.output() + second.output());
  },
);
