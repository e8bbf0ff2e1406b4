import type { Run } from '../database/database.ts';
import { isCancelled, lateWriteError } from '../database/database-error.ts';
import { databaseCode } from '../error-causes.ts';
import type { CountUpTo } from '../plants/count-up-to.ts';
import {
  createPlantStatements,
  deadlineAfter,
  idsOf,
  insertRows,
  insertValues,
  type PlantStatements,
} from '../plants/statements.ts';

/**
 * The statements of a plain Postgres. Once the plants are distributed, the statements that Citus accepts.
 *
 * @param onDistributed is called when the plants turn out to be distributed
 */
export function createOrdinaryStatements(run: Run, onDistributed = () => {}): PlantStatements {
  const plain = createPlantStatements(run);
  const onCitus = createWritesOnCitus(run);
  let isDistributed = false;

  return {
    ...plain,
    insert: (...batch) => write((statements) => statements.insert(...batch)),
    delete: (...plant) => write((statements) => statements.delete(...plant)),
  };

  /** Citus plans a statement before it runs it, so one that it does not support has changed nothing. */
  async function write<T>(send: (statements: Writes) => Promise<T>): Promise<T> {
    if (isDistributed) return send(onCitus);
    try {
      return await send(plain);
    } catch (error) {
      if (!notSupported.includes(databaseCode(error) ?? '')) throw error;
      const result = await send(onCitus);
      isDistributed = true;
      onDistributed();
      return result;
    }
  }
}

type Writes = Pick<PlantStatements, 'insert' | 'delete'>;

/**
 * The SQLSTATEs of a statement that Citus does not support. Citus loses the types of a large batch's arrays
 * on the way to its shards: 42P18. A worker does not have the table for deletions: 42P01.
 */
const notSupported = ['0A000', '42P18', '42P01'];

/**
 * Citus rejects volatile functions in a write, and it evaluates a failing expression even in a branch that
 * is not taken. So these writes set the name to null after the deadline, which the column rejects.
 */
function createWritesOnCitus(run: Run): Writes {
  return {
    async insert(batch, deadline, until) {
      const rows = insertRows(batch.length, (parameter, column) =>
        column === 'name' ? nameBefore(deadlineAfter(batch.length), parameter) : parameter,
      );
      const options = { share: 'creates', deadline, until } as const;
      const inserted = run(`${rows} returning id`, insertValues(batch), options);
      return idsOf((await inserted.catch(throwLateWrite).catch(throwUnlessCancelled)).rows);
    },

    async delete(id, deadline, caller) {
      const values = (until: string) => [String(id), until];
      const options = { share: 'deletes', deadline, caller } as const;
      return (await run(deleteBefore, values, options)).rows.length > 0;
    },
  };
}

function nameBefore(deadline: string, name: string): string {
  return `case when ${arrivedBefore(deadline)} then ${name}::text end`;
}

/** `statement_timestamp` is the time at which a statement arrived. */
function arrivedBefore(deadline: string): string {
  return `statement_timestamp() < ${deadline}`;
}

const deleteBefore = `
  delete from plants where id = $1 and ${arrivedBefore('$2::timestamptz')} returning id`;

function throwLateWrite(cause: unknown): never {
  if (databaseCode(cause) !== notNullViolated) throw cause;
  throw lateWriteError();
}

const notNullViolated = '23502';

/** Another node may have committed a statement that is cancelled on this one. */
export function throwUnlessCancelled(cause: unknown): never {
  if (!isCancelled(cause)) throw cause;
  throw Object.assign(new Error('the statement was cancelled', { cause }), {
    code: unknownOutcome,
  });
}

/** "statement_completion_unknown" */
const unknownOutcome = '40003';

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
