import type { Query } from '@plant-store/core/cluster';
import { clusterIdSignature, insertFunctionSignature, markOfShard } from './node-functions.ts';

/** A node of a cluster that stores plants. */
export interface StorageNode {
  readonly id: number;
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  readonly shards: number;
  /** The fraction of all ids that the node stores, from 0 to 1. */
  readonly share: number;
  /** An id that the node stores. */
  readonly someId: bigint;
}

/** A shard of the table `plants`. The hashes of the shard's ids are in one range. */
interface Shard {
  /** The number that Citus has given to the shard. */
  readonly id: string;
  /** The group number of the node that stores the shard. */
  readonly node: number;
}

/** Finds the shard that stores an id, and the node that stores the shard. */
export interface ShardMap {
  /** An identifier that only this cluster has. */
  readonly clusterId: string;
  readonly nodes: readonly StorageNode[];
  shardOf(id: bigint): Shard;
}

/** The state of the shards, as the database describes them. */
export interface ShardState {
  /** Whether the plants are distributed and the insert function exists. */
  readonly isCluster: boolean;
  /**
   * The version of Citus if the store was not tested on this version. The store then does not call the insert
   * function, because the function bypasses Citus's planner (docs/scaling.md).
   */
  readonly untestedVersion?: string;
  /** Undefined unless each shard is on exactly one node, and the insert function has a statement for each. */
  readonly map?: ShardMap | undefined;
}

/** Reads the shards of `plants` from Citus's catalogue. */
export async function readShardMap(query: Query): Promise<ShardState> {
  const { rows: facts } = await query(catalogueExists);
  const [isCluster, hash, version = ''] = (facts as [boolean, number, string][])[0] ?? [];
  if (!isCluster || Number(hash) !== hashId(checkedId)) return { isCluster: false };
  if (!isTestedCitus(version)) return { isCluster, untestedVersion: version };
  const { rows } = await query(shards);
  return { isCluster, map: toShardMap(rows as ShardRow[]) };
}

type ShardRow = [
  id: string,
  min: number,
  max: number,
  node: number,
  address: string,
  isKnown: boolean,
  clusterId: string,
];

/** Whether the store was tested on this version of the extension: 13.2 with any patch number. */
export const isTestedCitus = (version: string) => /^13\.2-/.test(version);

/** `readShardMap` checks that the database and `hashId` compute the same hash of this id. */
const checkedId = -6_148_914_691_236_517_205n;

const catalogueExists = `select to_regclass('pg_catalog.pg_dist_shard') is not null
  and to_regprocedure('${insertFunctionSignature}') is not null, hashint8('${checkedId}'),
  (select extversion from pg_extension where extname = 'citus')`;

/** Reads the shards on primary nodes. The method `h` marks a table that is distributed by hash. */
const shards = `
  select shardid::text, shardminvalue::int, shardmaxvalue::int, groupid, nodename || ':' || nodeport,
    position(${markOfShard('shardid')} in prosrc) > 0, ${clusterIdSignature}
  from pg_proc, pg_dist_partition
    join pg_dist_shard using (logicalrelid)
    join pg_dist_placement using (shardid)
    join pg_dist_node using (groupid)
  where pg_proc.oid = to_regprocedure('${insertFunctionSignature}')
    and logicalrelid = to_regclass('plants') and partmethod = 'h' and noderole = 'primary'
  order by shardminvalue::int`;

function toShardMap(rows: ShardRow[]): ShardMap | undefined {
  const sorted = rows.map(([id, min, max, node, address]) => {
    return { shard: { id, node: Number(node) }, min: Number(min), max: Number(max), address };
  });
  // A shard on two nodes has two rows with the same range. The map is then not complete either.
  const isComplete = sorted.every(({ min }, i) => min === (sorted[i - 1]?.max ?? minHash - 1) + 1);
  const isKnown = rows.every(([, , , , , isShardKnown]) => isShardKnown);
  const clusterId = rows[0]?.[6];
  if (!isComplete || !isKnown || sorted.at(-1)?.max !== maxHash || !clusterId) return undefined;

  const shardOf = (id: bigint): Shard => {
    const hash = hashId(id);
    let first = 0;
    let last = sorted.length - 1;
    while (first < last) {
      const middle = (first + last) >> 1;
      if (hash > (sorted[middle]?.max ?? maxHash)) first = middle + 1;
      else last = middle;
    }
    return (sorted[first] ?? sorted[0])?.shard as Shard; // The shards together cover every hash.
  };

  const sizes = new Map<number, { address: string; shards: number; size: number }>();
  for (const { shard, min, max, address } of sorted) {
    const { size = 0, shards = 0 } = sizes.get(shard.node) ?? {};
    sizes.set(shard.node, { address, shards: shards + 1, size: size + max - min + 1 });
  }
  const nodes = [...sizes].map(([id, { address, shards, size }]) => {
    return { id, address, shards, share: size / 2 ** 32, someId: idOn(id, shardOf) };
  });
  return { clusterId, nodes, shardOf };
}

const minHash = -(2 ** 31);
const maxHash = 2 ** 31 - 1;

function idOn(node: number, shardOf: ShardMap['shardOf']): bigint {
  let id = 0n;
  while (shardOf(id).node !== node) id++;
  return id;
}

/**
 * The hash of an id. Citus chooses the shard of a plant by this signed 32-bit integer, which `hashint8` of
 * Postgres computes (`src/backend/access/hash/hashfunc.c` and `src/common/hashfn.c`).
 */
function hashId(id: bigint): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  // Postgres gives equal integers of 32 and of 64 bits the same hash.
  return hashUint32(low ^ (high >= 0 ? high : ~high));
}

/** Bob Jenkins's hash (lookup3) of a word. Bitwise operators compute with signed 32-bit integers. */
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
