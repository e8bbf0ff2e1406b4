import { contentColumns, lateWrite } from '@plant-store/core/cluster';

/**
 * The functions that insert and delete plants on a cluster. They run on the node that stores the plants, and
 * write to the shards themselves. An INSERT into the distributed table `plants` costs twice as much, because
 * Citus plans it again for each batch, and writes a statement for each shard.
 *
 * So a function does the same as Citus before a write: it locks the metadata of the shards, and then checks
 * that the shards are still there. The last step of a move or a split of a shard locks this metadata
 * exclusively. The function has a statement for each shard, because Postgres keeps plans only of fixed
 * statements. At its end, the function checks the deadline: a late write changes nothing.
 *
 * The plants come sorted by shard, and `counts` has the number of plants in each shard. The arrays are texts.
 * Otherwise, a node that passes a call on would parse and print the arrays.
 */
const insertName = 'plant_store_insert';
const deleteName = 'plant_store_delete';

/** The parameters of the function that inserts. There is an array for each column of the content. */
const insertParameters = [
  ['key', 'bigint'],
  ['shards', 'text'],
  ['counts', 'text'],
  ['ids', 'text'],
  ...contentColumns.map(({ name }) => [`${name}s`, 'text']),
  ['deadline', 'text'],
] as const;

/** The values of a call that inserts no plant. The call fails when the node cannot be written. */
export function insertNothing(key: bigint, deadline: string): string[] {
  const noArrays = insertParameters.slice(1, -1).map(() => '{}');
  return [String(key), ...noArrays, deadline];
}

const insertValues = insertParameters.map((_, i) => `$${i + 1}`).join(', ');

const contentNames = contentColumns.map(({ name }) => name).join(', ');

/** The name of the function that inserts, and the types of its parameters. */
export const insertFunctionSignature = `${insertName}(${insertParameters.map(([, type]) => type)})`;
const deleteFunctionSignature = `${deleteName}(bigint,text,text)`;

/** Calls on the node that stores the plants. With the `where` clause, Citus does not plan each call. */
export const callHere = {
  insert: `select id from ${insertName}(${insertValues}) as id where id is not null`,
  delete: `select id from ${deleteName}($1, $2, $3) as id where id is not null`,
};

/** Calls on any node, which passes them on to the node that stores the plant `key` ($1). */
export const callAnywhere = {
  insert: `select * from ${insertName}(${insertValues})`,
  delete: `select * from ${deleteName}($1, $2, $3)`,
};

/** The SQLSTATE with which a function rejects plants that another node stores now. */
export const shardMoved = 'PS001';

/** A function that returns an id of the cluster, so that the store recognizes another cluster. */
export const clusterIdSignature = 'plant_store_cluster()';

const countSignature = 'plant_store_count(bigint)';

/** Selects the approximate number of plants on the node that stores the plant `key` ($1). */
export const countOnNode = 'select * from plant_store_count($1)';

/** A comment in the function for inserts. It shows that the function has a statement for this shard. */
export const markOfShard = (shardId: string) => `'/* shard ' || ${shardId} || ' */'`;

const moved = `raise exception 'another node stores these plants' using errcode = '${shardMoved}';`;

/** Undoes a late write, because the function ends with an error. */
const checkDeadline = `
    if clock_timestamp() >= deadline::timestamptz then
      raise exception '${lateWrite}: %', clock_timestamp() using errcode = '22P02';
    end if;`;

const lockShards = `
    perform lock_shard_metadata(5, shard_ids);
    if cardinality(shard_ids) <> (
      select count(*) from pg_dist_placement
      where shardid = any (shard_ids) and groupid = (select groupid from pg_dist_local_group)
    ) then
      ${moved}
    end if;`;

/**
 * The statements for a shard. `format` replaces %1$s by the shard's number, %2$s by its name, %3$s by its
 * least hash, and %4$s by its greatest hash.
 */
const insertIntoShard = `
      when %1$s then /* shard %1$s */
        return query insert into %2$s (id, ${contentNames})
          select id, ${contentNames}
          from unnest(plant_ids[first:last], ${contentColumns.map(({ name }) => `plant_${name}s[first:last]`).join(', ')})
            as plant (id, ${contentNames})
          where hashint8(id) between %3$s and %4$s
          on conflict (id) do nothing returning id;`;

const deleteFromShard = `
      when %1$s then
        return query delete from %2$s where id = key and hashint8(id) between %3$s and %4$s returning id;`;

/** SQL that repeats a text for each shard. Each copy has the values of its shard. */
const forEachShard = (row: string) => `
      select string_agg(
        format($each$${row}$each$, shardid, shard_name(logicalrelid, shardid), shardminvalue, shardmaxvalue),
        '' order by shardid)
      from pg_dist_shard where logicalrelid = 'plants'::regclass`;

/** The statements that create the functions anew for the shards that `plants` has. */
export const createNodeFunctions = [
  `do $do$
  begin
    execute $head$
  create or replace function ${insertName}(
    ${insertParameters.map((parameter) => parameter.join(' ')).join(', ')})
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  as $function$
  #variable_conflict use_column
  declare
    shard_ids bigint[] := shards;
    sizes int[] := counts;
    plant_ids bigint[] := ids;
    ${contentColumns.map(({ name, type }) => `plant_${name}s ${type}[] := ${name}s;`).join('\n    ')}
    first int := 1;
    last int := 0;
  begin
    if shards = '{}' then return; end if;
    ${lockShards}
    for i in 1 .. cardinality(shard_ids) loop
      last := first + sizes[i] - 1;
      case shard_ids[i]
    $head$ || (${forEachShard(insertIntoShard)}
    ) || $tail$
      else
        ${moved}
      end case;
      first := last + 1;
    end loop;
    ${checkDeadline}
  end
  $function$
    $tail$;
  end
  $do$`,
  // A plant may be missing because of a delete whose commit still waits for the standby. So even a delete
  // that finds no plant waits for the standby.
  `do $do$
  begin
    execute $head$
  create or replace function ${deleteName}(key bigint, shard text, deadline text)
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  as $function$
  #variable_conflict use_column
  declare
    shard_ids bigint[] := array[shard];
  begin
    ${lockShards}
    perform pg_logical_emit_message(true, 'plant-store', '');
    case shard::bigint
    $head$ || (${forEachShard(deleteFromShard)}
    ) || $tail$
    else
      ${moved}
    end case;
    ${checkDeadline}
  end
  $function$
    $tail$;
  end
  $do$`,
  ...[insertFunctionSignature, deleteFunctionSignature].map(
    (signature) =>
      `select create_distributed_function('${signature}', 'key', colocate_with := 'plants')`,
  ),
  // The id never changes. With a new id, instances would take these nodes for nodes of another cluster.
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
  // The planner's estimate. Before the first ANALYZE, the statistics are used instead, which a crash resets.
  `create or replace function plant_store_count(key bigint) returns bigint language sql
  set citus.override_table_visibility = off
  as $function$
    select coalesce(sum(
      case when relpages = 0 then pg_stat_get_live_tuples(oid)
        else reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::int) end
    ), 0)::bigint
    from pg_dist_shard join pg_dist_placement using (shardid)
      join pg_class on pg_class.oid = to_regclass(shard_name(logicalrelid, shardid))
    where logicalrelid = 'plants'::regclass
      and groupid = (select groupid from pg_dist_local_group)
  $function$`,
  `select create_distributed_function('${countSignature}', 'key', colocate_with := 'plants')`,
];
