import type { StatsFs } from 'node:fs';
import { databaseCode } from '../../error-causes.ts';

const MiB = 2 ** 20;

/**
 * Bytes that stay free on the disk of the data directory. PGlite never returns from a statement that
 * finds no room for a log segment, which has 16 MiB.
 */
const reserve = 64 * MiB;

/** SQLSTATE `disk_full`. */
const diskFull = '53100';

/** The error for a disk without the reserve; undefined when the disk has it. */
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
