import type { StatsFs } from 'node:fs';
import { databaseCode } from '../error-causes.ts';

const MiB = 2 ** 20;

/**
 * Bytes that must stay free on the disk of the data directory. A statement of PGlite never returns when the
 * disk has no room for a log segment of 16 MiB.
 */
const reserve = 64 * MiB;

/** SQLSTATE `disk_full`. */
const diskFull = '53100';

/** Returns an error for a disk without this reserve, or undefined when the disk has it. */
export function noRoomError({ bavail, bsize }: StatsFs): Error | undefined {
  const free = bavail * bsize;
  if (free >= reserve) return undefined;
  const message =
    `no room on the disk of the data directory: ${Math.floor(free / MiB)} MiB are free, ` +
    `and the embedded database needs ${reserve / MiB} MiB`;
  return Object.assign(new Error(message), { code: diskFull });
}

export function isNoRoomError(error: unknown): boolean {
  return databaseCode(error) === diskFull;
}
