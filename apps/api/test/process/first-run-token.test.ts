import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFileModes } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstRunToken } from '../../src/process/first-run-token.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-token-'));
  path = join(directory, 'token');
});

afterEach(() => rm(directory, { recursive: true }));

it('generates a token, and keeps it in the file', async () => {
  const first = await firstRunToken(directory);
  expect(first).toEqual({ token: expect.stringMatching(/^plant_[\w-]{43}$/), path });
  expect(await readFile(path, 'utf8')).toBe(`${first.token}\n`);
  expect(await firstRunToken(directory)).toEqual(first);
});

// Windows has no file modes; the permissions of the data directory apply there.
it.runIf(hasFileModes).each([
  ['new', undefined],
  ['empty', ''],
  ['used by an earlier start', 'plant_old\n'],
])('lets only the owner read a token file that is %s', async (_case, content) => {
  if (content !== undefined) await writeFile(path, content, { mode: 0o644 });
  await firstRunToken(directory);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
