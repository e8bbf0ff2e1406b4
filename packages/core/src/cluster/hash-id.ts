/**
 * The hash of an id by which Citus chooses its shard: `hashint8` of Postgres, a signed 32-bit integer
 * (`src/backend/access/hash/hashfunc.c` and `src/common/hashfn.c` there).
 */
export function hashId(id: bigint): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  // Equal integers of 32 and of 64 bits have the same hash.
  return hashUint32(low ^ (high >= 0 ? high : ~high));
}

/** Bob Jenkins's hash (lookup3) of one word. The bitwise operators count in signed 32-bit integers. */
function hashUint32(word: number): number {
  const start = (0x9e3779b9 + 4 + 3923095) | 0;
  let a = (start + word) | 0;
  let b = start;
  let c = start;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
