import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateToken } from '@plant-store/core/internal';
import { tokenSyntax } from '../auth/authentication.ts';

export interface FirstRunToken {
  token: string;
  path: string;
}

/**
 * Returns the access token of an embedded store. The first start generates the token and writes it to a file.
 * Only the owner of the file can read the file. On Windows, the file has the permissions of its directory.
 */
export async function firstRunToken(dataDirectory: string): Promise<FirstRunToken> {
  const path = join(dataDirectory, 'token');
  const stored = await read(path);
  const token = stored || generateToken();
  if (!tokenSyntax.test(token)) throw new Error(`${path} holds no access token: ${remedy}`);
  if (!stored) await writeFile(path, `${token}\n`, { mode: 0o600 });
  // A file that exists already may let other users read the token.
  await chmod(path, 0o600);
  return { token, path };
}

const remedy = 'delete the file, and the next start generates a new one';

async function read(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return '';
    throw new Error(`the access token in ${path} cannot be read: ${remedy}`, { cause });
  }
}
