/**
 * SQL that creates a function with a statement for each shard, because Postgres stores plans only for fixed
 * texts. In `statement`, %1$s is the number of the shard, %2$s is its table of plants, %3$s is its table of
 * deletions, %4$s is its smallest hash, and %5$s is its largest hash.
 */
export const forEachShard = (head: string, statement: string, tail: string) => `do $do$
  begin
    execute $head$${head}$head$ || (
      select string_agg(format($each$${statement}$each$, plant.shardid,
        shard_name(plant.logicalrelid, plant.shardid),
        shard_name(deletion.logicalrelid, deletion.shardid),
        plant.shardminvalue, plant.shardmaxvalue), '' order by plant.shardid)
      from pg_dist_shard as plant join pg_dist_shard as deletion using (shardminvalue)
      where plant.logicalrelid = 'plants'::regclass
        and deletion.logicalrelid = 'plant_deletions'::regclass
    ) || $tail$${tail}$tail$;
  end
  $do$`;

/**
 * Gives a function the `search_path` of the session that creates the function. When Citus itself calls the
 * function or fires the trigger, the session on the node does not have the settings of the store's URL.
 */
export const ownPath = 'set search_path from current';
