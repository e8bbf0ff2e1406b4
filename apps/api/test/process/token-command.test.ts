import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasPosixShell } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { tokenCommand } from '../../src/process/commands-to-paste.ts';
import { runInShell, temporaryDirectory } from '../fixtures/program.ts';

const root = "/home/someone/it's here";
const url = "postgres://someone@db/plants?options=-c x&sslrootcert='a'";

it.runIf(hasPosixShell)(
  'the printed command sets PLANT_STORE_TOKEN to the output of plant-store',
  async () => {
    const directory = await temporaryDirectory();
    const npx = join(directory, 'npx');
    await writeFile(npx, '#!/bin/sh\necho "$DATABASE_URL"; printf "%s|" "$@"\n');
    await chmod(npx, 0o755);
    const command = tokenCommand({ DATABASE_URL: url }, false, root);
    const env = { PATH: `${directory}:${process.env['PATH']}` };
    expect(await runInShell(`${command}; printf %s "$PLANT_STORE_TOKEN"`, env)).toBe(
      `${url}\n-y|pnpm|-C|${root}|plant-store|token|create|me|`,
    );
  },
);

it('cmd and PowerShell read every part of the command for Windows in the same way', () => {
  const command = tokenCommand({ DATABASE_URL: url }, true, 'C:\\plant store');
  expect(command).toBe('npx -y pnpm -C "C:\\plant store" plant-store token create me');
});
