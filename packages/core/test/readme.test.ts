import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';

it('the example of the README runs, and reads the plant that it creates', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(text) ?? [];
  const file = fileURLToPath(new URL('readme-example.ts', import.meta.url));
  onTestFinished(() => rm(file));
  const results = 'console.log({ plant, plants });\n';
  await writeFile(file, example.replace(/postgres:[^']+/, databaseUrl) + results);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toMatch(
    /plant: \{\s+id: 1n,\s+name: 'Monstera deliciosa'.*plants: \[\s+\{\s+id: 1n/s,
  );
});
