import { createHash } from 'node:crypto';
import { type Query, send } from '@plant-store/core/cluster';
import {
  clusterIdSignature,
  createNodeFunctions,
  insertFunctionSignature,
  markOfShard,
} from '../shards/node-functions.ts';
import type { Instance } from './blind-instances.ts';
import { ClusterError } from './check-nodes.ts';

/** What `distributePlants` plans to do, or has done. */
export interface Distribution {
  /** The nodes that will store plants, each as `host:port`. */
  readonly nodes: readonly string[];
  /** The number of shards that the plants have, or will have. */
  readonly shards: number;
  /** The missing changes in order. The description of a change begins with a verb. */
  readonly steps: readonly DistributionStep[];
}

export interface DistributionStep {
  readonly description: string;
  readonly statements: readonly string[];
  /** Undefined if the step takes less than a second. */
  readonly move?: {
    /** Whether creates and deletes wait while the step runs. */
    readonly isBlocking: boolean;
    /** The approximate number of plants that the step moves. Undefined when the database has no estimate. */
    readonly plants: number | undefined;
  };
}

export interface DistributeOptions {
  /** The URL of the coordinator. */
  readonly databaseUrl: string;
  /** The number of shards into which the plants are split. */
  readonly shards: number;
  /** Moves the plants in one statement, which is faster, but blocks creates and deletes. Default: false. */
  readonly isBlocking?: boolean;
  /** Returns whether to take the missing steps. This function is not called when no step is missing. */
  readonly confirm: (missing: Distribution) => Promise<boolean>;
  /** Called about once a second while plants move, with the number of plants that the nodes have received. */
  readonly onCopied?: (copied: number, total: number | undefined) => void;
  /** Called before the wait, with the instances that have not noticed the cluster. */
  readonly onWait?: (instances: readonly Instance[]) => void;
  /** Milliseconds to wait until all instances notice the cluster. Instances check every 15 s. Default: 0. */
  readonly patience?: number;
}

export interface DistributeResult extends Distribution {
  /** Whether all steps are done. */
  readonly isDone: boolean;
  /** The instances that have not noticed the cluster, and send all plants through one node. */
  readonly blindInstances: readonly Instance[];
}

/** The options of a plan that is only shown, before the operator has chosen a number of shards. */
const undecided = { shards: 0, isBlocking: true };

/**
 * Plans the missing steps on the coordinator of a cluster, without checking the nodes.
 *
 * @throws ClusterError when the tables do not exist yet, or cannot be distributed without blocking creates
 */
export async function planTables(
  query: Query,
  { shards, isBlocking = false }: Pick<DistributeOptions, 'shards' | 'isBlocking'> = undecided,
): Promise<Pick<Distribution, 'shards' | 'steps'>> {
  // The cast is safe, because the query returns one row.
  const [state] = (await send<TableState>(query, tables)) as [TableState];
  if (!state.is_migrated) throw new ClusterError(notMigrated);
  const missing = await send<{ table: string }>(query, missingCopies);
  const copies = await send<{ table: string }>(query, ownCopies);
  const steps = [
    ...(state.are_plants_distributed ? [] : [distributePlants(shards, isBlocking, state)]),
    ...(state.are_deletions_distributed ? [] : [distributeDeletions]),
    ...missing.map(({ table }) => copyToEveryNode(table)),
    ...copies.map(({ table }) => removeOwnCopy(table)),
    ...(state.has_insert_function ? [] : [createFunction]),
  ];
  return { shards: state.are_plants_distributed ? state.shards : shards, steps };
}

interface TableState {
  is_migrated: boolean;
  are_plants_distributed: boolean;
  shards: number;
  /** The size of the plants on the coordinator in bytes, before the plants are distributed. */
  bytes: number;
  plants: number;
  wal_level: string;
  are_deletions_distributed: boolean;
  has_insert_function: boolean;
}

/** A hash of the functions. If the cluster has functions with another hash, `distribute` replaces them. */
const functionsVersion = createHash('sha256').update(createNodeFunctions.join()).digest('hex');

/** SQL for the list of migrations. A user without privileges on the schema may not call `to_regclass`. */
const migrations = `(select pg_class.oid from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = 'drizzle' and relname = '__drizzle_migrations')`;

const tables = `
  select to_regclass('plants') is not null and to_regclass('access_tokens') is not null
      and ${migrations} is not null as is_migrated,
    exists (select from pg_dist_partition
      where logicalrelid = to_regclass('plants') and partmethod = 'h') as are_plants_distributed,
    (select count(*)::int from pg_dist_shard where logicalrelid = to_regclass('plants')) as shards,
    greatest(pg_relation_size(to_regclass('plants')), (
      select max(pg_relation_size(to_regclass(shard_name(logicalrelid, shardid))))
      from pg_dist_shard where logicalrelid = to_regclass('plants')))::float8 as bytes,
    (select reltuples from pg_class where oid = to_regclass('plants'))::float8 as plants,
    current_setting('wal_level') as wal_level,
    exists (select from pg_dist_partition
      where logicalrelid = to_regclass('plant_deletions') and partmethod = 'h')
      as are_deletions_distributed,
    exists (select from pg_proc
      where oid = to_regprocedure('${insertFunctionSignature}')
        and obj_description(oid, 'pg_proc') = '${functionsVersion}'
        and not exists (select from pg_dist_shard
          where logicalrelid = to_regclass('plants') and position(${markOfShard('shardid')} in prosrc) = 0)
    ) and exists (select from pg_dist_object
      where classid = 'pg_proc'::regclass and objid = to_regprocedure('${clusterIdSignature}')
    ) as has_insert_function`;

/** Selects the tables that every node needs, but that only the coordinator has. */
const missingCopies = `
  select name as table
  from (values ('plant_feed', to_regclass('plant_feed')), ('access_tokens', to_regclass('access_tokens')),
    ('drizzle.__drizzle_migrations', ${migrations})) as copied (name, oid)
  where not exists (select from pg_dist_partition where logicalrelid = copied.oid and partmethod = 'n')`;

/** The distributed tables whose old rows are still on the coordinator. */
const ownCopies = `
  select logicalrelid::text as table from pg_dist_partition
  where logicalrelid in (to_regclass('plants'), to_regclass('access_tokens'), ${migrations})
    and pg_relation_size(logicalrelid) > 0
  order by 1`;

const notMigrated = 'the tables do not exist yet: start the server once, which creates them';

/** Up to this many bytes of plants move in one statement, so that creates wait for about a second. */
const fewPlants = 16 * 2 ** 20;

function distributePlants(
  shards: number,
  isBlocking: boolean,
  { bytes, plants: estimate, wal_level: walLevel }: TableState,
): DistributionStep {
  const over = shards > 0 ? ` over ${shards} shards` : '';
  const isLong = bytes > fewPlants;
  const move = { isBlocking, plants: estimate > 0 ? estimate : undefined };
  const parameters = `('plants', 'id', shard_count := ${shards})`;
  if (isBlocking || !isLong) {
    return {
      description: `distribute plants by id${over}, and remove the coordinator's own copy`,
      statements: [
        ...dropTriggers,
        `select create_distributed_table${parameters}`,
        removeRowsFromBefore('plants'),
      ],
      ...(isLong && { move }),
    };
  }
  if (walLevel !== 'logical') throw new ClusterError(needsLogicalReplication);
  return {
    description: `distribute plants by id${over}, while creates go on`,
    statements: [...dropTriggers, `select create_distributed_table_concurrently${parameters}`],
    move,
  };
}

/**
 * A table that was distributed and then undistributed still has the triggers of the feed. Citus cannot
 * distribute a table with triggers.
 */
const dropTriggers = ['plant_store_number', 'plant_store_note_deletions'].map(
  (trigger) => `drop trigger if exists ${trigger} on plants`,
);

const needsLogicalReplication =
  'to distribute plants while creates go on, Citus needs logical replication: set wal_level = logical on ' +
  'each node and restart it, or add --blocking, and creates and deletes wait';

function copyToEveryNode(table: string): DistributionStep {
  return {
    description: `copy ${table} to every node, as a reference table`,
    statements: [`select create_reference_table('${table}')`, removeRowsFromBefore(table)],
  };
}

/** Drops the old deletions: the new feed begins without deletions, and cursors of the old feed expire. */
const distributeDeletions: DistributionStep = {
  description:
    'distribute the deletions of the feed, which begins anew: followers list the plants again',
  statements: [
    'truncate plant_deletions',
    "select create_distributed_table('plant_deletions', 'id', colocate_with := 'plants')",
  ],
};

/** Removes the old rows of a distributed table, which an interrupted run has left on the coordinator. */
function removeOwnCopy(table: string): DistributionStep {
  return {
    description: `remove the coordinator's own copy of ${table}`,
    statements: [removeRowsFromBefore(table)],
  };
}

const removeRowsFromBefore = (table: string) =>
  `select truncate_local_data_after_distributing_table('${table}')`;

const createFunction: DistributionStep = {
  description: 'create the functions that insert and delete the plants of one node',
  statements: [
    ...createNodeFunctions,
    // This comment comes last, so it shows that all functions have this version.
    `comment on function ${insertFunctionSignature} is '${functionsVersion}'`,
  ],
};
