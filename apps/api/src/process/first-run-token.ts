import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AccessTokens, createToken } from '@plant-store/core';
import { tokenSyntax } from '../auth/authentication.ts';
import { StartFailure } from './start-error.ts';

/**
 * The access token of an embedded store: made on the first start and kept beside the data, readable
 * by its owner alone. Nothing else knows it: without the file, the next start refuses it.
 *
 * @throws StartFailure when the file that it is kept in cannot be used.
 */
export async function firstRunToken(
  dataDirectory: string,
  accessTokens: AccessTokens,
): Promise<{ token: string; path: string }> {
  const path = join(dataDirectory, 'token');
  const kept = await read(path);
  const token = kept || createToken();
  if (!tokenSyntax.test(token)) throw new StartFailure(`${path} holds no access token: ${remedy}`);
  if (!kept) await writeFile(path, `${token}\n`, { mode: 0o600 });
  await chmod(path, 0o600); // The file may have been there, for others to read.
  accessTokens.trust('first-run', token);
  return { token, path };
}

const remedy = 'delete it, and a new one is made';

async function read(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw new StartFailure(`the access token in ${path} cannot be read: ${remedy}`, {
      cause: error,
    });
  }
}
