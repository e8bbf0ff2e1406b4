import type { Run } from '../database/database.ts';
import type { CountUpTo } from '../plants/count-up-to.ts';

/**
 * Counts plants on each shard of a cluster, and stops on each at the limit. Citus plans a LIMIT in a
 * subquery so that every shard sends that many rows to one node. Here every shard sends one number.
 */
export function createCountOnShards(run: Run): CountUpTo {
  return async (limit, { tag }, deadline, caller) => {
    const options = { share: 'lists', deadline, caller, isRepeatable: true } as const;
    const { rows } = await run(countOnShards, [String(limit), tag ?? null], options);
    let sum = 0;
    for (const [isCounted, result] of rows as [boolean, string][]) {
      if (!isCounted) throw new Error(`a shard was not counted: ${result}`);
      sum += Number(result);
    }
    return Math.min(sum, limit);
  };
}

/** `run_command_on_shards` formats the command for each shard, so a percent sign in the tag is doubled. */
const countOnShards = `
  select success, result from run_command_on_shards('plants', format(
    'select count(*) from (select 1 from %%s %s limit %s) as found',
    case when $2::text is null then '' else replace(
      format('where hashtextextended(tag, 0) = hashtextextended(%1$L, 0) and tag = %1$L', $2::text),
      '%', '%%'
    ) end,
    $1::bigint
  ))`;
