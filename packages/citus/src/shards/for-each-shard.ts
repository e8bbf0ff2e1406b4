/**
 * SQL that creates a function with a statement for each shard. Postgres stores a plan only for a statement
 * with a fixed text. In `statement`, %1$s stands for the number of the shard. %2$s and %3$s stand for the
 * tables of the shard for plants and deletions. %4$s and %5$s stand for the smallest and the largest hash.
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
