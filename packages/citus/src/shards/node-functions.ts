import { contentColumns, lateWrite } from '@plant-store/core/cluster';
import { createFeedFunctions, numberFunction } from './feed-functions.ts';
import { forEachShard, ownPath } from './for-each-shard.ts';

/**
 * The functions that insert and delete plants on a cluster. Each function runs on the node that stores the
 * plants, and writes directly to the shards. An INSERT into the distributed table `plants` costs twice as
 * much, because Citus plans the INSERT again for each batch, and writes a statement for each shard.
 */
const insertName = 'plant_store_insert';
const deleteName = 'plant_store_delete';

/**
 * The parameters of the insert function. The plants are sorted by shard, and `counts` contains the number of
 * plants in each shard. Arrays are texts, because a node that passes a call on would parse and print arrays.
 */
const insertParameters = [
  ['key', 'bigint'],
  ['shards', 'text'],
  ['counts', 'text'],
  ['ids', 'text'],
  ...contentColumns.map(({ name }) => [`${name}s`, 'text']),
  ['deadline', 'text'],
] as const;

/** The values of a call that inserts no plants, but fails when the node is not writable. */
export function insertNothing(key: bigint, deadline: string): string[] {
  const noArrays = insertParameters.slice(1, -1).map(() => '{}');
  return [String(key), ...noArrays, deadline];
}

const insertValues = insertParameters.map((_, i) => `$${i + 1}`).join(', ');

const contentNames = contentColumns.map(({ name }) => name).join(', ');

/** The name of the insert function, with the types of its parameters. */
export const insertFunctionSignature = `${insertName}(${insertParameters.map(([, type]) => type)})`;
const deleteFunctionSignature = `${deleteName}(bigint,text,text)`;

/**
 * Statements that call a function. Any node accepts the statements, and Citus passes the call to the node
 * that stores the plant `key` ($1).
 */
export const call = {
  insert: `select * from ${insertName}(${insertValues})`,
  delete: `select * from ${deleteName}($1, $2, $3)`,
};

/** The SQLSTATE that a function raises when another node stores the plants now. */
export const shardMoved = 'PS001';

/** A function that returns the id of the cluster, so that the store can distinguish clusters. */
export const clusterIdSignature = 'plant_store_cluster()';

/** SQL for a comment that the insert function contains if the function has a statement for the shard. */
export const markOfShard = (shardId: string) => `'/* shard ' || ${shardId} || ' */'`;

const moved = `raise exception 'another node stores these plants' using errcode = '${shardMoved}';`;

/** The end of each function: raises an error after the deadline. The error undoes the late write. */
const checkDeadline = `
    if clock_timestamp() >= deadline::timestamptz then
      raise exception '${lateWrite}: %', clock_timestamp() using errcode = '22P02';
    end if;`;

/** Locks the shards as Citus does before a write. A move or a split ends with an exclusive lock. */
const lockShards = `
    perform lock_shard_metadata(5, shard_ids);
    if cardinality(shard_ids) <> (
      select count(*) from pg_dist_placement
      where shardid = any (shard_ids) and groupid = (select groupid from pg_dist_local_group)
    ) then
      ${moved}
    end if;`;

/** The statements for a shard; see `forEachShard`. */
const insertIntoShard = `
      when %1$s then /* shard %1$s */
        return query insert into %2$s (id, ${contentNames}, changed_in)
          select id, ${contentNames}, number
          from unnest(plant_ids[first:last], ${contentColumns.map(({ name }) => `plant_${name}s[first:last]`).join(', ')})
            as plant (id, ${contentNames})
          where hashint8(id) between %4$s and %5$s
          on conflict (id) do nothing returning id;`;

const deleteFromShard = `
      when %1$s then
        return query delete from %2$s where id = key and hashint8(id) between %4$s and %5$s returning id;`;

/** The statements that create or replace the functions for the current shards of `plants`. */
export const createNodeFunctions = [
  ...createFeedFunctions,
  forEachShard(
    `create or replace function ${insertName}(
    ${insertParameters.map((parameter) => parameter.join(' ')).join(', ')})
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  ${ownPath}
  as $function$
  #variable_conflict use_column
  declare
    shard_ids bigint[] := shards;
    sizes int[] := counts;
    plant_ids bigint[] := ids;
    ${contentColumns.map(({ name, type }) => `plant_${name}s ${type}[] := ${name}s;`).join('\n    ')}
    number xid8;
    first int := 1;
    last int := 0;
  begin
    if shards = '{}' then return; end if;
    ${lockShards}
    number := ${numberFunction}();
    for i in 1 .. cardinality(shard_ids) loop
      last := first + sizes[i] - 1;
      case shard_ids[i]`,
    insertIntoShard,
    `
      else
        ${moved}
      end case;
      first := last + 1;
    end loop;
    ${checkDeadline}
  end
  $function$`,
  ),
  // If a delete finds no plant, another client's delete of the plant may still wait for the standby. The
  // message makes this delete wait for the standby too.
  forEachShard(
    `create or replace function ${deleteName}(key bigint, shard text, deadline text)
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  ${ownPath}
  as $function$
  #variable_conflict use_column
  declare
    shard_ids bigint[] := array[shard];
  begin
    ${lockShards}
    perform pg_logical_emit_message(true, 'plant-store', '');
    case shard::bigint`,
    deleteFromShard,
    `
    else
      ${moved}
    end case;
    ${checkDeadline}
  end
  $function$`,
  ),
  ...[insertFunctionSignature, deleteFunctionSignature].map(
    (signature) =>
      `select create_distributed_function('${signature}', 'key', colocate_with := 'plants')`,
  ),
  // The cluster keeps its id. With a new id, instances would treat the nodes as nodes of another cluster.
  `do $do$
  begin
    if to_regprocedure('${clusterIdSignature}') is null then
      execute format(
        'create function ${clusterIdSignature} returns text language sql immutable as $id$ select %L $id$',
        gen_random_uuid());
    end if;
  end
  $do$`,
  `select create_distributed_function('${clusterIdSignature}')`,
];
