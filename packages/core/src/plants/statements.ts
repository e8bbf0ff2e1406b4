import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import type { Rows, Run, Values } from '../database/database.ts';
import { lateWrite } from '../database/database-error.ts';
import type { Caller, Deadline } from '../database/deadline.ts';
import {
  columnArrays,
  contentColumns,
  contentValues,
  storedColumns,
  toStoredPlant,
} from './columns.ts';
import { plantKept } from './create-errors.ts';

/** The statements of requests on plants. They use only the table `plants`, and find rows by id. */
export interface PlantStatements {
  /**
   * Inserts plants with distinct ids in one statement and one commit, skips those whose id is taken,
   * and returns the ids that it inserted. The statement is cancelled at the deadline; see `RunOptions`.
   */
  insert(batch: readonly NewPlant[], deadline: Deadline, until?: Deadline): Promise<Set<bigint>>;
  /**
   * Deletes a plant, waits until that is durable on the standby, and returns whether there was a plant.
   *
   * @throws PlantStoreError `plantRejected` when a trigger keeps the plant
   */
  delete(id: bigint, deadline: Deadline, caller?: Caller): Promise<boolean>;
  /** Returns the plants that are stored under these ids, by id. */
  find(ids: readonly bigint[], deadline: Deadline): Promise<Map<bigint, StoredPlant>>;
  /** Like `find`, but waits until the plants are durable on the standby. */
  findDurable(
    ids: readonly bigint[],
    deadline: Deadline,
    until?: Deadline,
  ): Promise<Map<bigint, StoredPlant>>;
  /** Resolves when the database responds and has the table. On a cluster, it needs no other node. */
  ready(deadline: Deadline): Promise<void>;
}

export function createPlantStatements(run: Run): PlantStatements {
  const inserts = new Map<number, string>();

  return {
    async insert(batch, deadline, until) {
      const size = batch.length;
      const isLarge = size > maxRows;
      const statement = isLarge ? insertArrays : (inserts.get(size) ?? insertStatement(size));
      if (!isLarge) inserts.set(size, statement);
      const values = isLarge
        ? (time: string) => [...columnArrays(batch), time]
        : insertValues(batch);
      const { rows } = await run(statement, values, { share: 'creates', deadline, until });
      // This is nearly always true: every plant is new.
      if (rows.length === size) return new Set(batch.map(({ id }) => id));
      return idsOf(rows);
    },

    async delete(id, deadline, caller) {
      const values = (until: string) => [String(id), until];
      for (let round = 0; round < maxRounds; round++) {
        const { rows } = await run(deletePlant, values, { share: 'deletes', deadline, caller });
        const [[count, isThere]] = rows as [[number | string, number]]; // The statement returns these.
        if (Number(count) > 0) return true;
        if (isThere === 0) return false;
        // A delete of another client came first, or a trigger keeps the plant.
      }
      throw plantKept();
    },

    async find(ids, deadline) {
      return byId(await run(findPlants, [`{${ids}}`], { ...lookUp, deadline }));
    },

    async findDurable(ids, deadline, until) {
      const options = { share: 'creates', deadline, until, isRepeatable: true } as const;
      return byId(await run(findDurable, [`{${ids}}`], options));
    },

    async ready(deadline) {
      await run(findNothing, [], { ...lookUp, deadline });
    },
  };
}

/** How often a write that changed nothing is repeated, because other clients may have come first. */
export const maxRounds = 100;

const lookUp = { share: 'lookUps', isRepeatable: true } as const;

function byId({ rows }: Rows): Map<bigint, StoredPlant> {
  const plants = (rows as unknown[][]).map(toStoredPlant);
  return new Map(plants.map((plant) => [plant.id, plant]));
}

/** The ids that a statement returned. */
export function idsOf(rows: unknown[]): Set<bigint> {
  return new Set((rows as [string][]).map(([id]) => BigInt(id)));
}

/** The most rows in an INSERT with a text for its size. A session keeps each such statement. */
const maxRows = 128;

const columns = ['id', ...contentColumns.map(({ name }) => name)];

/**
 * The INSERT for batches of one size, without the `returning` clause. `INSERT … SELECT FROM unnest` would
 * need only one text for all sizes, but on Citus it sends every row through the coordinator.
 *
 * @param valueFor returns the SQL for the value of a column
 */
export function insertRows(
  size: number,
  valueFor = (parameter: string, _column: string) => parameter,
): string {
  const rows = Array.from({ length: size }, (_, row) => {
    const values = columns.map((name, i) => valueFor(`$${row * columns.length + i + 1}`, name));
    return `(${values})`;
  });
  return `insert into plants (${columns}) values ${rows} on conflict (id) do nothing`;
}

/** The parameter with the deadline. It follows the parameters of `insertRows` for `size` plants. */
export function deadlineAfter(size: number): string {
  return `$${size * columns.length + 1}::timestamptz`;
}

/** The values of `insertRows`, and the deadline. */
export function insertValues(batch: readonly NewPlant[]): (until: string) => Values {
  return (until) => [
    ...batch.flatMap((plant) => [String(plant.id), ...contentValues(plant)]),
    until,
  ];
}

function insertStatement(size: number): string {
  return `${insertRows(size)} returning ${idBefore(deadlineAfter(size))}`;
}

/**
 * The id of a row that was just written. After the deadline, the expression fails and undoes the whole
 * statement. A statement can be late when this process was suspended before it sent the statement, or
 * when the network is slow. `RAISE` would need a function.
 */
function idBefore(deadline: string): string {
  return `case when clock_timestamp() < ${deadline} then id
    else ('${lateWrite}: ' || clock_timestamp())::bigint end`;
}

const arrays = ['bigint', ...contentColumns.map(({ type }) => type)].map(
  (type, i) => `$${i + 1}::${type}[]`,
);

/** The INSERT for larger batches, whose values are an array for each column. */
const insertArrays = `
  insert into plants (${columns}) select * from unnest(${arrays})
  on conflict (id) do nothing returning ${idBefore(deadlineAfter(1))}`;

/**
 * Writes to the log of the database, so that the commit of a statement that only reads waits for the
 * synchronous standby, too.
 *
 * A row can be visible before it is durable, when a commit's wait for the standby was cancelled. This must
 * be a part of the statement that reads: between two statements, there could be a failover.
 */
const waitForStandby = `pg_logical_emit_message(true, 'plant-store', '')`;

/** The columns of a deleted plant that the feed needs. */
export const deletedColumns = [...storedColumns, 'changed_in'];

/** Notes the rows of `deleted` for the feed, while the feed is switched on. */
export const noteDeletions = `noted as (
    insert into plant_deletions (${storedColumns}, created_in)
    select ${storedColumns}, changed_in from deleted
    where exists (select from plant_feed)
  )`;

const deletePlant = `
  with deleted as (
    delete from plants where id = $1 returning ${idBefore('$2::timestamptz')}, ${deletedColumns}
  ), ${noteDeletions}
  select count(*), (count(*) = 0 and exists (select from plants where id = $1))::int, ${waitForStandby}
  from deleted`;

const findPlants = `select ${storedColumns} from plants where id = any($1::bigint[])`;
const findNothing = `select ${storedColumns} from plants where false`;
const findDurable = `
  select ${storedColumns}, ${waitForStandby} from plants where id = any($1::bigint[])`;
