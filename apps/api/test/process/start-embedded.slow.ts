import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasPosixShell, type StartedProcess } from '@plant-store/test-setup';
import { beforeEach, expect, it } from 'vitest';
import {
  preparedDataDirectory,
  printedCommand,
  runInShell,
  startProgram,
  stopProgram,
} from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

let dataDirectory: string;
let tokenFile: string;

beforeEach(async () => {
  dataDirectory = await preparedDataDirectory();
  tokenFile = join(dataDirectory, 'token');
});

const start = (env: Record<string, string> = {}) =>
  startProgram({ PLANT_STORE_DATA_DIR: dataDirectory, ...env });

async function printedToken({ printed }: StartedProcess): Promise<string> {
  const [, token = ''] = await printed(/Access token +(plant_[\w-]{43}) /);
  return token;
}

/** Creates plant 1. Without `token`, the request has the token that the server has printed. */
async function create(server: StartedProcess, name: string, token?: string): Promise<unknown> {
  const target = { url: await server.listening(), token: token ?? (await printedToken(server)) };
  const response = await post(target, '/plants', JSON.stringify({ id: 1, name }));
  return response.json();
}

it('has all plants and the old token after a restart', async () => {
  const first = start();
  const token = await printedToken(first);
  await create(first, 'Monstera');
  await stopProgram(first);

  const second = start();
  expect(await printedToken(second)).toBe(token);
  expect(await create(second, 'Ficus')).toMatchObject({ error: 40900 });
  expect(await create(second, 'Monstera')).toEqual({ name: 'Monstera' });
});

it('generates a new token when the token file is empty, and rejects the old token', async () => {
  const first = start();
  const old = await printedToken(first);
  await stopProgram(first);
  await writeFile(tokenFile, '');
  const second = start();
  expect(await create(second, 'Monstera')).toEqual({ name: 'Monstera' });
  expect(await create(second, 'Monstera', old)).toMatchObject({ error: 40101 });
});

it('exits when the token file contains no token', async () => {
  await writeFile(tokenFile, 'two words');
  const server = start();
  expect(await server.ended()).toBe(1);
  expect(server.output()).toContain(`${tokenFile} holds no access token: delete the file`);
});

it.runIf(hasPosixShell)('uses PLANT_STORE_TOKEN, and never prints this token', async () => {
  const server = start({ PLANT_STORE_TOKEN: 'not-to-be-printed' });
  const command = await printedCommand(server);
  expect(await runInShell(command, { PLANT_STORE_TOKEN: 'not-to-be-printed' })).toBe(
    '{"name":"Monstera deliciosa","tag":"Araceae"}',
  );
  await expect(runInShell(command)).rejects.toMatchObject({
    stderr: expect.stringContaining('PLANT_STORE_TOKEN: set it to an access token'),
  });
  expect(await stopProgram(server)).toBe(0);
  expect(server.output()).not.toContain('not-to-be-printed');
});
