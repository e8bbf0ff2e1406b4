import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { isPolicyError, lateWrite } from '../database/database-error.ts';
import { type CallOptions, type Deadline, deadlineOf } from '../database/deadline.ts';
import type { Rows } from '../database/query.ts';
import type { Verbs } from '../database/verbs.ts';
import { databaseCode } from '../error-causes.ts';
import { isCluster } from '../tables/tables.ts';
import { columnArrays, contentColumns, storedColumns } from './columns.ts';
import { deleteAdvice, plantKept } from './create-errors.ts';
import { withText } from './output-text.ts';
import { parsePlant, plantJson } from './plant-json.ts';

/** The statements that write plants. */
export type PlantWrites = Pick<PlantStatements, 'insert' | 'delete'>;

/** The statements of requests on plants. They use only the table `plants`, and find rows by id. */
export interface PlantStatements {
  /**
   * Inserts plants with distinct ids in one statement and one commit, skips plants whose id is taken,
   * and returns the ids that it inserted. The statement is cancelled at the deadline; see `RunOptions`.
   */
  insert(batch: readonly NewPlant[], deadline: Deadline, until?: Deadline): Promise<Set<bigint>>;
  /**
   * Deletes a plant, waits until the delete is durable on the standby, and returns whether there was a plant.
   *
   * @throws PlantStoreError `plantRejected` when a trigger keeps the plant
   */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;
  /** Returns the plants that are stored under these ids, by id. */
  find(ids: readonly bigint[], deadline: Deadline): Promise<Map<bigint, StoredPlant>>;
  /** Like `find`, but waits until the plants are durable on the standby. */
  findDurable(
    ids: readonly bigint[],
    deadline: Deadline,
    until?: Deadline,
  ): Promise<Map<bigint, StoredPlant>>;
  /** Resolves when the database responds and has the table. On a cluster, it needs no other node. */
  ready(): Promise<void>;
}

export function createPlantStatements(verbs: Verbs): PlantStatements {
  const { read, write } = verbs;
  return {
    async insert(batch, deadline, until) {
      const values = (time: string) => [...columnArrays(batch), time];
      const options = { share: 'creates', deadline, until } as const;
      const { rows } = await write(insertPlants, values, options).catch(
        orOverNodes(verbs, () => write(insertOverNodes, values, options)),
      );
      // This is nearly always true: every plant is new.
      if (rows.length === batch.length) return new Set(batch.map(({ id }) => id));
      return idsOf(rows);
    },

    async delete(id, call) {
      const values = (until: string) => [String(id), until];
      const deadline = deadlineOf(call);
      const options = { ...call, deadline, share: 'deletes', advice: deleteAdvice } as const;
      for (let round = 0; round < maxRounds; round++) {
        const { rows } = await write(deletePlant, values, options).catch(
          orOverNodes(verbs, () => write(deleteOverNodes, values, options)),
        );
        const [[count, isThere]] = rows as [[number | string, number]]; // The statement selects these columns.
        if (Number(count) > 0) return true;
        if (isThere === 0) return false;
        // A delete of another client came first, a trigger keeps the plant, or several nodes got the delete late.
        await write(checkDeadline, (until) => [until], options);
      }
      throw plantKept();
    },

    async find(ids, deadline) {
      return byId(await read(findPlants, [`{${ids}}`], { share: 'lookUps', deadline }));
    },

    async findDurable(ids, deadline, until) {
      return byId(await read(findDurable, [`{${ids}}`], { share: 'creates', deadline, until }));
    },

    async ready() {
      await read(findNothing, [], { share: 'lookUps' });
    },
  };
}

/** How often a write that changed nothing is repeated, because other clients may have come first. */
export const maxRounds = 100;

function byId({ rows }: Rows): Map<bigint, StoredPlant> {
  const plants = (rows as [string][]).map(([json]) => withText(parsePlant(json), { json }));
  return new Map(plants.map((plant) => [plant.id, plant]));
}

/** The ids that a statement returned. */
export function idsOf(rows: unknown[]): Set<bigint> {
  return new Set((rows as [string][]).map(([id]) => BigInt(id)));
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

const columns = ['id', ...contentColumns.map(({ name }) => name)];

/** The parameters of an INSERT: an array for each column. So batches of all sizes share one text. */
const arrays = ['bigint', ...contentColumns.map(({ type }) => type)].map(
  (type, i) => `$${i + 1}::${type}[]`,
);

const insert = `
  insert into plants (${columns}) select * from unnest(${arrays}) on conflict (id) do nothing`;
const insertDeadline = `$${arrays.length + 1}::timestamptz`;
const insertPlants = `${insert} returning ${idBefore(insertDeadline)}`;

/** On several nodes, the `returning` clause must not contain a clock. */
const insertOverNodes = `
  with inserted as (${insert} returning id) select ${idBefore(insertDeadline)} from inserted`;

/**
 * Writes to the log of the database. So even a statement that only reads waits for the synchronous standby at
 * its commit.
 *
 * When a commit's wait for the standby was cancelled, its rows are visible before they are durable. The
 * statement that reads them must write to the log itself: a failover could happen between two statements.
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

/**
 * Sends a write in another form when the database rejected the usual form, because it distributes the plants
 * over several nodes. Such a database has no feed, so nobody needs the deletions.
 */
export function orOverNodes<T>(
  { read }: Verbs,
  send: () => Promise<T>,
): (error: unknown) => Promise<T> {
  return async (error) => {
    const isNotSupported = notSupported.includes(databaseCode(error) ?? '');
    if (!isNotSupported || isPolicyError(error)) throw error;
    const { rows } = await read(`select ${isCluster}`, [], { share: 'lookUps' });
    const [[onCluster]] = rows as [[boolean]]; // The statement returns one value.
    if (!onCluster) throw error;
    return send();
  };
}

/**
 * The SQLSTATEs of a statement that several nodes do not support. A node may lack the table for deletions,
 * and a node gets only some of the parameters.
 */
const notSupported = ['0A000', '42P01', '42P02', '42P18'];

const deletePlant = `
  with deleted as (
    delete from plants where id = $1 returning ${idBefore('$2::timestamptz')}, ${deletedColumns}
  ), ${noteDeletions}
  select count(*), (count(*) = 0 and exists (select from plants where id = $1))::int, ${waitForStandby}
  from deleted`;

/** On several nodes, a late delete changes nothing and causes no error. */
const deleteOverNodes = `
  with deleted as (
    delete from plants where id = $1 and statement_timestamp() < $2::timestamptz returning id
  )
  select count(*), (count(*) = 0 and exists (select from plants where id = $1))::int from deleted`;

/** Fails after the deadline. */
const checkDeadline = `select ${idBefore('$1::timestamptz')} from (values (1::bigint)) as row (id)`;

const findPlants = `select ${plantJson} from plants where id = any($1::bigint[])`;
const findNothing = `select ${plantJson} from plants where false`;
const findDurable = `
  select ${plantJson}, ${waitForStandby} from plants where id = any($1::bigint[])`;
