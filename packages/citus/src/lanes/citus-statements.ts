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
  rootMessage,
  type Verbs,
} from '@plant-store/core/cluster';

/**
 * The statements that Citus passes to the nodes that store the plants. If the INSERT had an array for each
 * column, Citus would send every row through the coordinator. The INSERT has a parameter for each value, so
 * each batch size needs a different statement text.
 *
 * Citus rejects volatile functions in a write. Citus also evaluates an expression that fails in a branch of
 * CASE that is not taken. After the deadline, the INSERT sets the name to null, which the column rejects.
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
      // Postgres sets `statement_timestamp` when a statement arrives.
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

/** Throws an error of unknown outcome after a cancel, because another node may have committed. */
export function throwUnlessCancelled(cause: unknown): never {
  if (!isCancelled(cause)) throw cause;
  throw Object.assign(new Error('the statement was cancelled', { cause }), {
    code: unknownOutcome,
  });
}

/** The SQLSTATE `statement_completion_unknown`. */
const unknownOutcome = '40003';

/**
 * Counts the plants on each shard of a cluster. The count on each shard stops at the limit. Citus would send
 * the rows of a subquery with LIMIT from every shard to one node. `run_command_on_shards` gets only one
 * number from every shard.
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

/** Whether an error is Citus's internal error for plants that are being moved to another node or shard. */
export function hasMoved(error: unknown): boolean {
  return /^could not find valid entry for shard/.test(rootMessage(error));
}
