import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { isNoRoomError, noRoomError } from '../../src/embedded/free-room.ts';

const disk: StatsFs = await statfs(tmpdir());

it('returns an error when less than 64 MiB of the disk are free for this user', () => {
  expect(noRoomError({ ...disk, bsize: 4096, bavail: 16 * 1024 })).toBeUndefined();
  const error = noRoomError({ ...disk, bsize: 4096, bavail: 16 * 1024 - 1, bfree: 1e9 });
  expect(error?.message).toBe(
    'no room on the disk of the data directory: 63 MiB are free, and the embedded database needs 64 MiB',
  );
});

it('recognizes an error whose cause is a full disk', () => {
  const cause = noRoomError({ ...disk, bavail: 0 });
  expect(isNoRoomError(new Error('cannot be opened', { cause }))).toBe(true);
  expect(isNoRoomError(new Error('cannot be opened'))).toBe(false);
});
