import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import type { Database, Rows } from '../database/database.ts';
import type { CallOptions, Deadline } from '../database/deadline.ts';
import { lateWrite } from '../database/errors.ts';
import { columnArrays, newColumns, storedColumns } from './columns.ts';
import { deleteAdvice, plantKept } from './create-errors.ts';
import { withText } from './output-text.ts';
import { columnsJson, parsePlant, plantJson, plantTexts } from './plant-json.ts';

/** The statements for requests on plants. These statements find rows by id. */
export interface PlantStatements {
  /**
   * Inserts plants with distinct ids in one statement and one commit. Skips each plant whose id is taken, and
   * returns the ids of the inserted plants. The database cancels the statement at the deadline; see
   * `RunOptions`.
   */
  insert(batch: readonly NewPlant[], deadline: Deadline, until?: Deadline): Promise<Set<bigint>>;
  /**
   * Deletes a plant, and waits until the delete is durable on the standby. Returns whether the plant existed.
   *
   * @throws PlantStoreError `plantRejected` when a trigger prevents the delete
   */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;
  /** Finds the plants with these ids. The keys of the map are the ids. */
  find(ids: readonly bigint[], deadline: Deadline): Promise<Map<bigint, StoredPlant>>;
  /** Like `find`, but waits until the plants are durable on the standby. */
  findDurable(
    ids: readonly bigint[],
    deadline: Deadline,
    until?: Deadline,
  ): Promise<Map<bigint, StoredPlant>>;
  /** Resolves when the database responds and has the table `plants`. */
  ready(): Promise<void>;
}

export function createPlantStatements({
  read,
  write,
}: Pick<Database, 'read' | 'write'>): PlantStatements {
  return {
    async insert(batch, deadline, until) {
      const values = (time: string) => [...columnArrays(batch), time];
      const options = { kind: 'creates', deadline, until } as const;
      const { rows } = await write(insertPlants, values, options);
      // In almost every batch, all ids are free, so every plant is inserted.
      if (rows.length === batch.length) return new Set(batch.map(({ id }) => id));
      return idsOf(rows);
    },

    async delete(id, call) {
      const values = (until: string) => [String(id), until];
      const options = { ...call, kind: 'deletes', advice: deleteAdvice } as const;
      for (let round = 0; round < maxRounds; round++) {
        const { rows } = await write(deletePlant, values, options);
        const [[count, isThere]] = rows as [DeleteRow];
        if (Number(count) > 0) return true;
        if (isThere === 0) return false;
        // Try again: either another client deleted the plant first, or a trigger prevented the delete.
      }
      throw plantKept();
    },

    async find(ids, deadline) {
      return byId(await read(findPlants, [`{${ids}}`], { kind: 'reads', deadline }));
    },

    async findDurable(ids, deadline, until) {
      return byId(await read(findDurable, [`{${ids}}`], { kind: 'creates', deadline, until }));
    },

    async ready() {
      await read(findNothing, [], { kind: 'reads' });
    },
  };
}

/** The columns that a delete selects: the number of deleted plants, and whether a plant is still there. */
type DeleteRow = [count: number | string, isThere: 0 | 1];

/** The maximum number of attempts for a write that changed nothing because another write came first. */
export const maxRounds = 100;

function byId({ rows }: Rows): Map<bigint, StoredPlant> {
  const plants = (rows as string[][]).flatMap(plantTexts);
  return new Map(
    plants.map((json) => {
      const plant = parsePlant(json);
      return [plant.id, withText(plant, { json })];
    }),
  );
}

/** Reads the ids in the rows of a statement. */
function idsOf(rows: unknown[]): Set<bigint> {
  return new Set((rows as [string][]).map(([id]) => BigInt(id)));
}

/**
 * SQL for the id of a written row. After the deadline, the expression causes an error, which undoes the whole
 * statement. A statement may be late because the network is slow, or because this process was suspended
 * before the statement was sent. An invalid cast causes the error, because SQL has `RAISE` only in functions.
 */
function idBefore(deadline: string): string {
  return `case when clock_timestamp() < ${deadline} then id
    else ('${lateWrite}: ' || clock_timestamp())::bigint end`;
}

const columns = newColumns.map(({ name }) => name);

/**
 * The parameters of an INSERT, with an array for each column. The SQL text is the same for all batch sizes.
 */
const arrays = newColumns.map(({ type }, i) => `$${i + 1}::${type}[]`);

const insertPlants = `
  insert into plants (${columns}) select * from unnest(${arrays}) on conflict (id) do nothing
  returning ${idBefore(`$${arrays.length + 1}::timestamptz`)}`;

/**
 * Writes a message to the database's log. This message makes the commit of a statement wait for the
 * synchronous standby, even when the statement only reads.
 *
 * When the wait for the standby is cancelled, the rows of a commit are visible before they are durable. The
 * statement that reads rows must itself write the message, because a failover could happen between two
 * statements.
 */
const waitForStandby = `pg_logical_emit_message(true, 'plant-store', '')`;

/** The columns of deleted plants that the feed needs. */
export const deletedColumns = [...storedColumns, 'created_in'];

/** SQL that inserts the rows of `deleted` into `plant_deletions` if the feed is on. */
export const noteDeletions = `noted as (
    insert into plant_deletions (${storedColumns}, created_in)
    select ${storedColumns}, created_in from deleted
    where exists (select from plant_feed)
  )`;

const deletePlant = `
  with deleted as (
    delete from plants where id = $1 returning ${idBefore('$2::timestamptz')}, ${deletedColumns}
  ), ${noteDeletions}
  select count(*), (count(*) = 0 and exists (select from plants where id = $1))::int, ${waitForStandby}
  from deleted`;

const findPlants = `select ${columnsJson()} from plants where id = any($1::bigint[])`;
const findNothing = `select ${plantJson} from plants where false`;
const findDurable = `
  select ${plantJson}, ${waitForStandby} from plants where id = any($1::bigint[])`;
