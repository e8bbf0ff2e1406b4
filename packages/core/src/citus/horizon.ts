import { setTimeout } from 'node:timers/promises';
import { selectChanges } from '../changes/statements.ts';
import type { Rows, Values } from '../database/database.ts';
import type { PostgresSession } from '../database/session.ts';
import { databaseCode, PlantStoreError } from '../plant-store-error.ts';

/** Milliseconds between two looks at the workers. */
const pause = 20;

/** A read waits for the workers for this many milliseconds, and then uses the last settled number. */
const patience = 500;

/** A first read waits longer, because it has no settled number. */
const firstPatience = 4_000;

/**
 * Reads the feed of a cluster.
 *
 * The coordinator gives the transaction numbers. But a transaction leaves its snapshot *before* its parts on
 * the workers are committed, so all transactions below `pg_snapshot_xmin` have ended, and some of their changes
 * may still appear. Therefore read that number, and then wait until each part that the workers have now is
 * gone. Then the number is settled: no change with a lower number can appear.
 */
export class Horizon {
  /** All transactions with lower numbers have ended on all nodes. */
  #settled: bigint | undefined;
  readonly #recover: () => Promise<void>;

  constructor(recover: () => Promise<void>) {
    this.#recover = recover;
  }

  /** Runs `selectChanges` up to a settled number. */
  async readChanges(session: PostgresSession, values: Values): Promise<Rows> {
    const oldest = await oldestOnCoordinator(session);
    if (oldest === undefined) return session.query(selectChanges, values);
    let upTo = await this.#settle(session, oldest);
    // The cursor may come from another instance, which knew a later settled number.
    const cursor = BigInt(values[0] ?? 0);
    if (cursor < oldest && cursor >= upTo) upTo = cursor + 1n;
    const { rows, count } = await session.query(selectChangesUpTo, [...values, String(upTo)]);
    const [[json, ...columns] = []] = rows;
    // The page has several snapshots. Meanwhile somebody may have forgotten deletions that belong into it.
    const later = await session.query('select forgotten_up_to::text from plant_feed', []);
    const feed = { ...JSON.parse(String(json)), forgottenUpTo: later.rows[0]?.[0] };
    return { rows: [[JSON.stringify(feed), ...columns]], count };
  }

  /** Returns the number, or the last settled number when the workers take long. */
  async #settle(session: PostgresSession, oldest: bigint): Promise<bigint> {
    const since = performance.now();
    const first = await partsOnWorkers(session);
    for (let parts = first; [...first].some((part) => parts.has(part)); ) {
      const waited = performance.now() - since;
      if (waited > patience) {
        void this.#recover().catch(() => {});
        if (this.#settled !== undefined) return this.#settled;
        if (waited > firstPatience) throw notSettled('has transactions that do not end');
      }
      await setTimeout(pause);
      parts = await partsOnWorkers(session);
    }
    if (this.#settled === undefined || oldest > this.#settled) this.#settled = oldest;
    return this.#settled;
  }
}

/** `selectChanges` with a further parameter: $4 the number below which changes are read */
const selectChangesUpTo = selectChanges.replace(
  'pg_snapshot_xmin(pg_current_snapshot())',
  '$4::xid8',
);

/** Returns the oldest transaction of the coordinator, or undefined when the plants are not distributed. */
async function oldestOnCoordinator(session: PostgresSession): Promise<bigint | undefined> {
  try {
    const { rows } = await session.query(selectOldest, []);
    return rows[0] && BigInt(String(rows[0][0]));
  } catch (error) {
    if (databaseCode(error) === '42P01') return undefined;
    throw error;
  }
}

const selectOldest = `
  select pg_snapshot_xmin(pg_current_snapshot())::text
  from pg_dist_partition where logicalrelid = 'plants'::regclass`;

/** Returns the names of the parts of transactions that have not ended on the workers. */
async function partsOnWorkers(session: PostgresSession): Promise<Set<string>> {
  const { rows } = await session.query(askWorkers, [selectParts]);
  const silent = rows.find(([, success]) => success !== true);
  if (silent) throw notSettled(`needs the node ${silent[0]}`);
  return new Set(
    rows.flatMap(([node, , parts]) =>
      (JSON.parse(String(parts)) as string[]).map((part) => `${node} ${part}`),
    ),
  );
}

const askWorkers = `
  select nodename || ':' || nodeport, success, result from run_command_on_workers($1)`;

/**
 * Selects prepared transactions, and Citus's sessions with a transaction number: a statement for one shard
 * commits without a prepared part.
 */
const selectParts = `
  select coalesce(json_agg(part), '[]') from (
    select gid as part from pg_prepared_xacts
    where database = current_database() and gid like 'citus\\_%'
    union all
    select concat_ws(' ', pid, backend_xid, xact_start) from pg_stat_activity
    where datname = current_database() and application_name like 'citus_internal%'
      and backend_xid is not null and pid <> pg_backend_pid()
  ) as parts`;

function notSettled(why: string): PlantStoreError {
  const message = `the feed waits, because the cluster ${why}: try again later`;
  return new PlantStoreError('databaseUnavailable', message);
}
