/**
 * The function by which the store inserts plants on a cluster. Citus runs a call on the node that
 * stores the plant `key`, because the function is distributed together with `plants`. The other nodes
 * pass the call on as a whole: they neither split the plants nor write a new statement for each, and
 * the commit concerns one node, so that it needs no two-phase commit.
 *
 * On that node the function inserts into the shards themselves. So it does what Citus does before a
 * write: it locks the metadata of the shards, which a move or a split of a shard locks exclusively for
 * its last step, and then checks that the shards are still there and have the ids.
 *
 * The arrays are texts, because a node that passes the call on would parse and print arrays.
 */
const name = 'plant_store_insert';

/** The function's name and the types of its parameters. */
export const insertFunctionSignature = `${name}(bigint,text,text,text,text)`;

/** A statement that calls the function. It returns the ids of the plants that it has inserted. */
export const callInsertFunction = `select * from ${name}($1, $2, $3, $4, $5)`;

/** The SQLSTATE with which the function refuses plants that another node stores now. */
export const shardMoved = 'PS001';

/** The statements that create the function, and distribute it together with `plants`. */
export const createInsertFunction = [
  `create or replace function ${name}(key bigint, shards text, ids text, names text, tags text)
  returns setof bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  as $function$
  declare
    shard record;
    found_shards int := 0;
    plant_ids bigint[] := ids;
    plant_names text[] := names;
    plant_tags text[] := tags;
  begin
    if shards = '{}' then return; end if;
    perform lock_shard_metadata(5, shards::bigint[]);
    for shard in
      select shard_name(logicalrelid, shardid) as name,
        shardminvalue::int as first_hash, shardmaxvalue::int as last_hash
      from pg_dist_shard join pg_dist_placement using (shardid)
      where shardid = any (shards::bigint[])
        and groupid = (select groupid from pg_dist_local_group)
        and logicalrelid = 'plants'::regclass
      order by shardid
    loop
      found_shards := found_shards + 1;
      return query execute format(
        'insert into %s (id, name, tag)
        select id, name, tag from unnest($1, $2, $3) as plant (id, name, tag)
        where hashint8(id) between $4 and $5
        on conflict (id) do nothing returning id', shard.name)
      using plant_ids, plant_names, plant_tags, shard.first_hash, shard.last_hash;
    end loop;
    if found_shards <> cardinality(shards::bigint[]) then
      raise exception 'another node stores these plants' using errcode = '${shardMoved}';
    end if;
  end
  $function$`,
  `select create_distributed_function('${insertFunctionSignature}', 'key', colocate_with := 'plants')`,
];
