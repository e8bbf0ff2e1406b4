import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasFileModes } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { firstRunToken } from '../../src/process/first-run-token.ts';
import { temporaryDirectory } from '../fixtures/program.ts';

// Windows has no file modes. On Windows, the permissions of the data directory apply to its files.
it.runIf(hasFileModes).each([
  ['new', undefined],
  ['empty', ''],
  ['used by an earlier start', 'plant_old\n'],
])('lets only the owner read a token file that is %s', async (_case, content) => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'token');
  if (content !== undefined) await writeFile(path, content, { mode: 0o644 });
  await firstRunToken(directory);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
