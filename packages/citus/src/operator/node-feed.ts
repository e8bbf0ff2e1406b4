import {
  type FeedState,
  isOwn,
  lookAgain,
  type Query,
  readOldest,
  send,
} from '@plant-store/core/cluster';

/** Reads the state of the log of one node, over a connection to that node. */
export async function readNodeFeed(query: Query): Promise<FeedState> {
  // The cast is safe, because the statement returns one row.
  const [{ hasRow, ...row }] = (await send<Row>(query, selectFeed)) as [Row];
  const feed = { ...row, isRestored: hasRow && !row.isOn, oldest: await readOldest(query) };
  return lookAgain(query, feed);
}

interface Row extends Pick<FeedState, 'isOn' | 'hasIndex'> {
  /** Whether somebody has switched the feed of the cluster on. */
  hasRow: boolean;
}

/** Each node writes its own row into its copy of `plant_feed`, and has an index on each of its shards. */
const selectFeed = `
  select exists (select 1 from plant_feed) as "hasRow",
    exists (select 1 from plant_feed where ${isOwn}) as "isOn",
    not exists (
      select from pg_dist_shard join pg_dist_placement using (shardid)
      where logicalrelid = to_regclass('plants')
        and groupid = (select groupid from pg_dist_local_group)
        and not exists (select from pg_index
          where indexrelid = to_regclass('plants_changed_in_' || shardid) and indisvalid)
    ) as "hasIndex"`;
