import { statfs } from 'node:fs/promises';
import type { DatabaseState } from '@plant-store/core/operator';
import type { Finding } from './finding.ts';

const MiB = 2 ** 20;

/** Bytes that the embedded database needs; with less, it accepts no writes. */
const needed = 64 * MiB;

/** Bytes that the log of the embedded database may take. */
const scarce = 512 * MiB;

export async function embeddedDisk(directory: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const found = `${Math.floor(free / MiB)} MiB are free on the disk of ${directory}`;
  if (free < needed) {
    const message = `${found}, and the embedded database needs 64 MiB: free some room`;
    return [{ check: 'disk', level: 'problem', message }];
  }
  if (free < scarce) {
    const message = `${found}, and the log of the database alone may take 300 MB: free some room`;
    return [{ check: 'disk', level: 'warning', message }];
  }
  return [{ check: 'disk', level: 'ok', message: found }];
}

/** SQL does not tell how much room a server has. */
export function serverDisk({ bytes }: DatabaseState): Finding[] {
  const size = `the database has ${Math.ceil(bytes / MiB)} MiB`;
  const message = `${size}; how much room is free, only its machine can tell (df)`;
  return [{ check: 'disk', level: 'ok', message }];
}
