import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { curlCommand } from '../../src/process/commands-to-paste.ts';
import { startServer } from '../fixtures/running-server.ts';

const isWindows = process.platform === 'win32';
const shells = isWindows ? ['cmd.exe', 'powershell.exe'] : ['/bin/sh'];

it.each(shells)('the printed curl command works unchanged in %s', async (shell) => {
  const server = await startServer();
  const run = async (command: string, env?: NodeJS.ProcessEnv) =>
    (await promisify(exec)(command, { shell, env: { ...process.env, ...env } })).stdout;
  const response = '{"name":"Monstera deliciosa","tag":"Araceae"}';
  expect(await run(curlCommand(server.url, server.token, isWindows))).toBe(response);
  const withVariable = curlCommand(server.url, undefined, isWindows);
  expect(await run(withVariable, { PLANT_STORE_TOKEN: server.token })).toBe(response);
  expect(await server.stopAndRead()).toEqual([
    { id: 9007199254740993n, name: 'Monstera deliciosa', tag: 'Araceae' },
  ]);
});

it.runIf(!isWindows)('the command for Windows creates the example plant', async () => {
  const server = await startServer();
  const command = curlCommand(server.url, server.token, true).replace('curl.exe', 'curl');
  const { stdout } = await promisify(exec)(command);
  expect(stdout).toBe('{"name":"Monstera deliciosa","tag":"Araceae"}');
  expect(await server.stopAndRead()).toEqual([
    { id: 9007199254740993n, name: 'Monstera deliciosa', tag: 'Araceae' },
  ]);
});

it('cmd and PowerShell read every part of the command for Windows in the same way', () => {
  for (const token of ['plant_token', undefined]) {
    const command = curlCommand('http://127.0.0.1:3000', token, true);
    expect(command).toMatch(/^curl\.exe /);
    expect(command).not.toMatch(/['`$^&|<>]|\\"/);
    // cmd replaces a variable between two percent signs.
    expect(command).not.toMatch(/%.*%/);
  }
});

it('the command for Windows lets curl read the token from the environment', () => {
  expect(curlCommand('http://127.0.0.1:3000', undefined, true)).toContain(
    '--variable %PLANT_STORE_TOKEN --expand-header "Authorization: Bearer {{PLANT_STORE_TOKEN}}"',
  );
});
