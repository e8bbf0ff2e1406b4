import { setTimeout } from 'node:timers/promises';
import type postgres from 'postgres';
import { expect, it, onTestFinished } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import { startOwnCluster } from '../fixtures/cluster.ts';
import { connectForTest, openAnother } from '../fixtures/open-store.ts';
import { endOf, freeId, listPages } from '../fixtures/plants.ts';

/** The duration of a run in milliseconds, and the number of runs. */
const duration = 30_000;
const runs = Number(process.env['FEED_RUNS'] ?? 1);

const random = (below: number) => Math.floor(Math.random() * below);

/** Creates, replaces and deletes plants until the signal is aborted. Errors are expected. */
async function write(store: PlantStore, signal: AbortSignal): Promise<void> {
  const ids: bigint[] = [];
  for (let i = 0; !signal.aborted; i++) {
    const plants = Array.from({ length: 1 + random(40) }, () => ({ id: freeId(), name: 'new' }));
    const replaced = ids.splice(random(ids.length), 3);
    const deleted = ids.splice(random(ids.length), 3);
    await Promise.allSettled([
      store.createMany(plants),
      ...replaced.map((id) => store.replace(id, { name: `replaced ${i}` })),
      ...deleted.map((id) => store.delete(id)),
    ]);
    ids.push(...plants.map(({ id }) => id), ...replaced);
  }
}

/** SQL that ends all sessions that are between the two phases of a commit. */
const killPrepared = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and state = 'idle' and query like 'PREPARE TRANSACTION%'`;

/** SQL that ends a random session, preferably a session that writes or runs a statement. */
const killRandom = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend'
    and pid <> pg_backend_pid() and application_name <> 'postgres.js'
  order by (backend_xid is not null) desc, state = 'active' desc, random() limit 1`;

/** Ends sessions of random nodes. Returns how many of the sessions were between the phases of a commit. */
async function killSessions(nodes: readonly postgres.Sql[], signal: AbortSignal): Promise<number> {
  let prepared = 0;
  while (!signal.aborted) {
    await setTimeout(1_500 + random(1_500));
    const node = nodes[random(nodes.length)];
    let killed = 0;
    for (let i = 0; i < 200 && killed === 0; i++) {
      killed = (await node?.unsafe(killPrepared))?.length ?? 0;
    }
    prepared += killed;
    if (killed === 0) await node?.unsafe(killRandom);
  }
  return prepared;
}

it.each(Array.from({ length: runs }, (_, i) => i + 1))(
  'a follower has exactly the plants of the table although random sessions end (run %i)',
  async () => {
    const { url, workerUrls, store } = await startOwnCluster();
    const follower = await openAnother(url);
    const copy = new Map<bigint, string>();
    let seen = 0;
    const follow = async (after: string, until: () => boolean) => {
      let cursor = after;
      while (!until()) {
        const page = await follower.changes({ after: cursor, wait: 1 }).catch(() => undefined);
        for (const { type, plant } of page?.changes ?? []) {
          seen += 1;
          if (type === 'deleted') copy.delete(plant.id);
          else copy.set(plant.id, plant.name);
        }
        cursor = page?.next ?? cursor;
      }
      return cursor;
    };
    const start = await endOf(store);
    const superuser = (each: string) =>
      connectForTest(Object.assign(new URL(each), { username: 'postgres' }).href);
    const nodes = [url, ...workerUrls].map(superuser);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const killing = killSessions(nodes, stop.signal);
    const work = Array.from({ length: 3 }, () => write(store, stop.signal));
    const following = follow(start, () => stop.signal.aborted);
    await setTimeout(duration);
    stop.abort();
    await Promise.all(work);
    const cursor = await following;

    const last = { id: freeId(), name: 'last' };
    await expect.poll(() => store.create(last).catch(() => {})).toEqual({ name: 'last' });
    await follow(cursor, () => copy.has(last.id));
    const stored = (await listPages(store, {})).flat();
    const inTable = new Map(stored.map(({ id, name }) => [id, name]));
    process.stdout.write(
      `${seen} changes, ${inTable.size} plants, ${await killing} sessions between two phases\n`,
    );
    expect([...inTable].filter(([id, name]) => copy.get(id) !== name)).toEqual([]);
    expect([...copy].filter(([id]) => !inTable.has(id))).toEqual([]);
  },
);
