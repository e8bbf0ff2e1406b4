import { setTimeout } from 'node:timers/promises';
import { selectChanges } from '../changes/statements.ts';
import type { Rows, Values } from '../database/database.ts';
import { deadlineIn } from '../database/deadline.ts';
import type { PostgresSession } from '../database/session.ts';
import { databaseCode, PlantStoreError } from '../plant-store-error.ts';

/** The maximum time for which a read waits for the nodes, in milliseconds. */
const patience = 1_000;

/**
 * Makes a function that runs `selectChanges` on a cluster.
 *
 * The coordinator assigns the transaction numbers. A transaction leaves the snapshot of the coordinator
 * *before* the nodes commit its parts, so changes below `pg_snapshot_xmin` may still appear. The function
 * therefore reads this number, and waits until the nodes have ended the parts that exist at this time. The
 * number is then *settled*: no change with a lower number can appear.
 */
export function createHorizon(recover: () => Promise<void>) {
  let settled: bigint | undefined;

  return async function readChanges(session: PostgresSession, values: Values): Promise<Rows> {
    const number = await selectFromCitus(session, oldestOnCoordinator);
    if (number === undefined) return session.query(selectChanges, values);
    const oldest = BigInt(number);
    let upTo = await settle(session, oldest);
    // The cursor may come from another instance with a higher settled number.
    const cursor = BigInt(values[0] ?? 0);
    if (cursor < oldest && cursor >= upTo) upTo = cursor + 1n;
    const { rows } = await session.query(selectChangesUpTo, [...values, String(upTo)]);
    // Citus reads each table in its own snapshot, so an instance may have forgotten deletions of this page.
    const later = await session.query('select forgotten_up_to::text from plant_feed', []);
    const [[json, ...columns] = []] = rows;
    const feed = { ...JSON.parse(String(json)), forgottenUpTo: later.rows[0]?.[0] };
    return { rows: [[JSON.stringify(feed), ...columns]] };
  };

  /** Returns `oldest` when it is settled. If the nodes take too long, returns the last settled number. */
  async function settle(session: PostgresSession, oldest: bigint): Promise<bigint> {
    const late = deadlineIn(patience);
    const first = await partsOnNodes(session);
    for (let parts = first; !first.isDisjointFrom(parts); parts = await partsOnNodes(session)) {
      if (performance.now() > late) {
        void recover();
        if (settled === undefined) throw notSettled();
        return settled;
      }
      await setTimeout(20);
    }
    if (settled === undefined || oldest > settled) settled = oldest;
    return settled;
  }
}

/** `selectChanges` with a further parameter: $4 the transaction number below which it selects changes */
const selectChangesUpTo = selectChanges.replace(
  'pg_snapshot_xmin(pg_current_snapshot())',
  '$4::xid8',
);

/** Selects one value from a catalog of Citus. Returns undefined if the catalog is missing or has no such row. */
export async function selectFromCitus(session: PostgresSession, what: string) {
  const { rows } = await session.query(`select ${what}`, []).catch((error) => {
    if (databaseCode(error) === '42P01') return { rows: [] };
    throw error;
  });
  return rows[0] && String(rows[0][0]);
}

/** Selects the oldest running transaction of the coordinator, if the plants are distributed. */
const oldestOnCoordinator = `pg_snapshot_xmin(pg_current_snapshot())::text
  from pg_dist_partition where logicalrelid = 'plants'::regclass`;

/** Returns the names of the transaction parts that the nodes have not ended. */
async function partsOnNodes(session: PostgresSession): Promise<Set<unknown>> {
  const { rows } = await session.query(selectPartsOnNodes, [selectParts]);
  if (rows.some(([, success]) => success !== true)) throw notSettled();
  return new Set(rows.flatMap(([part]) => part ?? []));
}

const selectPartsOnNodes = `
  select concat_ws(':', nodename, nodeport, part), success from run_command_on_workers($1)
    left join lateral unnest(string_to_array(result, ',')) as part on success
  where part is not null or not success`;

/** A part is a prepared transaction or, for a statement on one shard, a session with a transaction number. */
const selectParts = `
  select coalesce(string_agg(part, ','), '') from (
    select gid as part from pg_prepared_xacts
    where database = current_database() and gid like 'citus\\_%'
    union all
    select concat_ws(' ', pid, backend_xid) from pg_stat_activity
    where datname = current_database() and application_name like 'citus_internal%'
      and backend_xid is not null and pid <> pg_backend_pid()
  ) as parts`;

function notSettled(): PlantStoreError {
  const message = 'the feed waits for a node of the cluster: try again later';
  return new PlantStoreError('databaseUnavailable', message);
}
