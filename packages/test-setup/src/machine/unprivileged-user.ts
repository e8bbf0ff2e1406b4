import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface User {
  uid: number;
  gid: number;
}

/** Returns the user `nobody` in a process of root, because Postgres and PgBouncer do not run as root. */
export async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => promisify(execFile)('id', [flag, 'nobody']);
  const [uid, gid] = await Promise.all([id('-u'), id('-g')]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
