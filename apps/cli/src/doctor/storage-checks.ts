import { statfs } from 'node:fs/promises';
import type { DatabaseState } from '@plant-store/core/operator';
import type { Finding } from './finding.ts';

/** Checks whether stored plants survive a crash, and whether the disk has room. */
export async function embeddedStorage(directory: string): Promise<Finding[]> {
  return [embeddedDurability, await embeddedDisk(directory)];
}

export function serverStorage(state: DatabaseState): Finding[] {
  return [...serverDurability(state), serverDisk(state)];
}

const embeddedDurability: Finding = {
  check: 'durability',
  level: 'warning',
  message:
    'the embedded database may lose plants in a power cut: ' +
    'set DATABASE_URL to a Postgres if that matters',
};

function serverDurability(state: DatabaseState): Finding[] {
  const check = 'durability';
  const { fsync, fullPageWrites, synchronousCommit } = state;
  const risks = [
    fsync === 'off' && 'fsync is off, so a crash of the machine may destroy the database',
    fullPageWrites === 'off' && 'full_page_writes is off, so a power cut may damage the database',
    synchronousCommit === 'off' &&
      'synchronous_commit is off, so a crash may lose the newest plants',
  ].filter((risk) => risk !== false);
  if (risks.length === 0) {
    const message = `fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}`;
    return [{ check, level: 'ok', message }];
  }
  return risks.map((risk) => ({ check, level: 'problem', message: `${risk}: set it to on` }));
}

const MiB = 2 ** 20;

/** The free bytes that the embedded database needs. With fewer free bytes, the database accepts no writes. */
const needed = 64 * MiB;

/** With fewer free bytes, the write-ahead log of the embedded database may fill the disk. */
const scarce = 512 * MiB;

async function embeddedDisk(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const found = `${Math.floor(free / MiB)} MiB are free on the disk of ${directory}`;
  if (free < needed) {
    const message = `${found}, and the embedded database needs 64 MiB: free some room`;
    return { check: 'disk', level: 'problem', message };
  }
  if (free < scarce) {
    const message = `${found}, and the log of the database alone may take 300 MB: free some room`;
    return { check: 'disk', level: 'warning', message };
  }
  return { check: 'disk', level: 'ok', message: found };
}

/** A Postgres server does not say how much space on the disk is free. */
function serverDisk({ bytes }: DatabaseState): Finding {
  const size = `the database has ${Math.ceil(bytes / MiB)} MiB`;
  const message = `${size}; run df on its machine to see the free room`;
  return { check: 'disk', level: 'ok', message };
}
