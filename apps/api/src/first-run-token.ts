import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AccessTokens, createToken } from '@plant-store/core';

/**
 * The access token of an embedded store: made on the first start and kept beside the data, readable
 * by its owner alone.
 */
export async function firstRunToken(
  dataDirectory: string,
  accessTokens: AccessTokens,
): Promise<{ token: string; path: string }> {
  const path = join(dataDirectory, 'token');
  const kept = (await readFile(path, 'utf8').catch(ifMissing))?.trim();
  const token = kept || createToken();
  if (!kept) await writeFile(path, `${token}\n`, { mode: 0o600 });
  await accessTokens.add('first-run', token);
  return { token, path };
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
