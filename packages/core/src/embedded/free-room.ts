import type { StatsFs } from 'node:fs';
import { databaseCode } from '../error-causes.ts';

const MiB = 2 ** 20;

/**
 * The number of bytes that must stay free on the disk of the data directory. When the disk has no room for a
 * log segment of 16 MiB, a statement of PGlite never returns.
 */
const reserve = 64 * MiB;

/** SQLSTATE `disk_full`. */
const diskFull = '53100';

/** Returns an error if the disk has less free room than `reserve`. */
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
