import {
  type CountUpTo,
  contentColumns,
  contentValues,
  createPlantStatements,
  databaseCode,
  databaseUnavailable,
  idsOf,
  isCancelled,
  lateWriteError,
  type PlantStatements,
  type Verbs,
} from '@plant-store/core/cluster';

/**
 * Makes ordinary statements, which Citus passes to the nodes that store the plants. The INSERT has a
 * parameter for each value, because with arrays, Citus would send every row through the coordinator.
 */
export function createOrdinaryStatements(verbs: Verbs): PlantStatements {
  return {
    ...createPlantStatements(verbs),

    async insert(batch, deadline, until) {
      const values = (time: string) => [
        ...batch.flatMap((plant) => [String(plant.id), ...contentValues(plant)]),
        time,
      ];
      const inserted = verbs.write(insertRows(batch.length), values, {
        share: 'creates',
        deadline,
        until,
      });
      return idsOf((await inserted.catch(throwLateWrite).catch(throwUnlessCancelled)).rows);
    },
  };
}

const columns = ['id', ...contentColumns.map(({ name }) => name)];

function insertRows(size: number): string {
  const deadline = `$${size * columns.length + 1}::timestamptz`;
  const rows = Array.from({ length: size }, (_, row) => {
    const values = columns.map((name, i) => {
      const parameter = `$${row * columns.length + i + 1}`;
      if (name !== 'name') return parameter;
      // After the deadline, the name is null, which the column rejects. No branch may raise an error, because
      // Citus evaluates every branch of CASE. Citus also rejects volatile functions in a write.
      return `case when statement_timestamp() < ${deadline} then ${parameter}::text end`;
    });
    return `(${values})`;
  });
  return `insert into plants (${columns}) values ${rows} on conflict (id) do nothing returning id`;
}

function throwLateWrite(cause: unknown): never {
  if (databaseCode(cause) !== notNullViolated) throw cause;
  throw lateWriteError();
}

const notNullViolated = '23502';

/** After a cancellation, the outcome of a write is unknown, because another node may have committed. */
export function throwUnlessCancelled(cause: unknown): never {
  if (!isCancelled(cause)) throw cause;
  throw Object.assign(new Error('the statement was cancelled', { cause }), {
    code: unknownOutcome,
  });
}

/** The SQLSTATE `statement_completion_unknown`. */
const unknownOutcome = '40003';

/**
 * Counts the plants of each shard up to the limit. `run_command_on_shards` returns one number for each shard.
 * With LIMIT in an ordinary subquery, Citus would send the rows of every shard to one node.
 */
export function createCountOnShards({ read }: Verbs): CountUpTo {
  return async (limit, { tag } = {}, options = {}) => {
    const values = [String(limit), tag ?? null];
    const { rows } = await read(countOnShards, values, { share: 'lists', ...options });
    let sum = 0;
    for (const [isCounted, result] of rows as [boolean, string][]) {
      if (!isCounted) throw databaseUnavailable(new Error(`a shard was not counted: ${result}`));
      sum += Number(result);
    }
    return Math.min(sum, limit);
  };
}

/** `run_command_on_shards` treats the command as a format, so a percent sign in the tag must be doubled. */
const countOnShards = `
  select success, result from run_command_on_shards('plants', format(
    'select count(*) from (select 1 from %%s %s limit %s) as found',
    case when $2::text is null then '' else replace(
      format('where hashtextextended(tag, 0) = hashtextextended(%1$L, 0) and tag = %1$L', $2::text),
      '%', '%%'
    ) end,
    $1::bigint
  ))`;
