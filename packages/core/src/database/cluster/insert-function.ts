/**
 * The function by which the store inserts plants on a cluster: it runs on the node that stores them, and
 * inserts into the shards themselves. There, an INSERT into `plants` costs twice as much: Citus plans it
 * anew for each batch, and writes a statement for each shard.
 *
 * So the function does what Citus does before a write: it locks the metadata of the shards, which a move
 * or a split of a shard locks exclusively for its last step, and then checks that the shards are still
 * there. It has a statement for each shard, because Postgres keeps the plans only of fixed statements.
 *
 * The plants come sorted by shard, and `counts` has the number of plants in each shard. The arrays are
 * texts, because a node that passes a call on would parse and print arrays.
 */
const name = 'plant_store_insert';

/** The function's name and the types of its parameters. */
export const insertFunctionSignature = `${name}(bigint,text,text,text,text,text)`;

/** A call on the node that stores the plants. The condition keeps Citus from planning it for each call. */
export const callHere = `select id from ${name}($1, $2, $3, $4, $5, $6) as id where id is not null`;

/** A call on any node, which passes it on to the node that stores the plant `key` ($1). */
export const callAnywhere = `select * from ${name}($1, $2, $3, $4, $5, $6)`;

/** The SQLSTATE with which the function refuses plants that another node stores now. */
export const shardMoved = 'PS001';

/** A function that returns an id of the cluster, so that no other cluster is taken for it. */
export const clusterIdSignature = 'plant_store_cluster()';

const countSignature = 'plant_store_count(bigint)';

/** About how many plants the node has that stores the plant `key` ($1). */
export const countOnNode = 'select * from plant_store_count($1)';

/** A text in the function for each shard of `plants` that it has a statement for. */
export const markOfShard = (shardId: string) => `'/* shard ' || ${shardId} || ' */'`;

const moved = `raise exception 'another node stores these plants' using errcode = '${shardMoved}';`;

/** The statement for a shard. `format` replaces %1$s by its number, %2$s by its name, %3$s and %4$s by its hashes. */
const insertIntoShard = `
      when %1$s then /* shard %1$s */
        return query insert into %2$s (id, name, tag)
          select id, name, tag
          from unnest(plant_ids[first:last], plant_names[first:last], plant_tags[first:last])
            as plant (id, name, tag)
          where hashint8(id) between %3$s and %4$s
          on conflict (id) do nothing returning id;`;

/** The statements that create the functions anew for the shards that `plants` has. */
export const createInsertFunction = [
  `do $do$
  begin
    execute $head$
  create or replace function ${name}(key bigint, shards text, counts text, ids text, names text, tags text)
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  as $function$
  #variable_conflict use_column
  declare
    shard_ids bigint[] := shards;
    sizes int[] := counts;
    plant_ids bigint[] := ids;
    plant_names text[] := names;
    plant_tags text[] := tags;
    first int := 1;
    last int := 0;
  begin
    if shards = '{}' then return; end if;
    perform lock_shard_metadata(5, shard_ids);
    if cardinality(shard_ids) <> (
      select count(*) from pg_dist_placement
      where shardid = any (shard_ids) and groupid = (select groupid from pg_dist_local_group)
    ) then
      ${moved}
    end if;
    for i in 1 .. cardinality(shard_ids) loop
      last := first + sizes[i] - 1;
      case shard_ids[i]
    $head$ || (
      select string_agg(
        format($each$${insertIntoShard}$each$, shardid, shard_name(logicalrelid, shardid), shardminvalue, shardmaxvalue),
        '' order by shardid)
      from pg_dist_shard where logicalrelid = 'plants'::regclass
    ) || $tail$
      else
        ${moved}
      end case;
      first := last + 1;
    end loop;
  end
  $function$
    $tail$;
  end
  $do$`,
  `select create_distributed_function('${insertFunctionSignature}', 'key', colocate_with := 'plants')`,
  // The id never changes: instances would take the nodes for those of another cluster.
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
  // Citus hides the shards from pg_class, and so from the views of statistics.
  `create or replace function plant_store_count(key bigint) returns bigint language sql as $function$
    select coalesce(sum(pg_stat_get_live_tuples(to_regclass(shard_name(logicalrelid, shardid)))), 0)::bigint
    from pg_dist_shard join pg_dist_placement using (shardid)
    where logicalrelid = 'plants'::regclass
      and groupid = (select groupid from pg_dist_local_group)
  $function$`,
  `select create_distributed_function('${countSignature}', 'key', colocate_with := 'plants')`,
];
