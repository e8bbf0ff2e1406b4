import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, it, vi } from 'vitest';
import { migratedDatabase, useDatabase } from '../fixtures/database.ts';
import { changesIn, type Line, startFollower } from '../fixtures/follower.ts';
import { main } from '../fixtures/run-program.ts';

const database = useDatabase({ isMigrated: true });
const { env } = database;

const plants = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));

it('a consumer that is killed and restarted several times receives each change once', async () => {
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  await store.load(plants(0, 200));

  let follower = startFollower([], { env });
  const taken: Line[] = [];
  const [start] = await follower.waitFor(1);
  const changeStore = async () => {
    // Each transaction has many changes, so a kill can interrupt the consumer in the middle of a transaction.
    for (let i = 0; i < 40; i++) {
      await store.load(plants(1_000 + 100 * i, 70));
      await store.deleteMany(plants(5 * i, 5).map(({ id }) => id));
    }
  };
  const changed = changeStore();
  const all = 40 * (70 + 5);
  let cursor = String(start?.cursor);
  for (const next of [1, 101, 1_999, all]) {
    follower.child.kill('SIGKILL');
    follower = startFollower(['--from', cursor], { env });
    // The consumer reads only some of the lines that have arrived.
    taken.push(...(await follower.waitFor(Math.min(next, all - taken.length))).slice(0, next));
    cursor = taken.at(-1)?.cursor ?? cursor;
  }
  await changed;
  follower.child.kill('SIGKILL');
  expect(changesIn(taken)).toHaveLength(all);
  expect(changesIn(taken)).toEqual(await changesBehind(store, String(start?.cursor)));
  await store.close();
});

/** Returns all changes after a cursor as short texts. */
async function changesBehind(store: PlantStore, cursor: string): Promise<string[]> {
  const found: string[] = [];
  let after = cursor;
  for (;;) {
    const { changes, next } = await store.changes({ after });
    if (changes.length === 0) return found;
    found.push(...changes.map(({ type, plant }) => `${type} ${plant.id}`));
    after = next;
  }
}

it('a consumer that is killed several times during the list still makes an exact copy of the store', async () => {
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  await store.load(plants(0, 12_000));
  const copy = new Map<number, string>();
  const take = (lines: readonly Line[]) => {
    for (const { type, plant } of lines) {
      if (!plant) continue;
      if (type === 'created') copy.set(plant.id, plant.name);
      else copy.delete(plant.id);
    }
    return lines.at(-1)?.cursor ?? 'start';
  };
  let cursor = 'start';
  for (const count of [6_000, 5_000]) {
    const follower = startFollower(['--from', cursor], { env });
    cursor = take((await follower.waitFor(count)).slice(0, count));
    follower.child.kill('SIGKILL');
    // In the first round, the consumer has received the first of these plants, but not the second.
    for (const id of [count - 1, count + 1]) await store.delete(BigInt(id));
    await store.create({ id: BigInt(count - 1), name: 'another' });
    await store.create({ id: BigInt(100_000 + count), name: 'new' });
  }
  const follower = startFollower(['--from', cursor], { env });
  const rows = await database.sql<{ id: string; name: string }[]>`
    select id, name from plants order by id`;
  await vi.waitFor(() => {
    take(follower.lines());
    const sorted = [...copy].toSorted(([a], [b]) => a - b);
    expect(sorted).toEqual(rows.map(({ id, name }) => [Number(id), name]));
  });
  await store.close();
});

it('continues after each restart of the database, and warns once of each outage', async () => {
  const server = await startPostgres({ fsync: 'off' });
  const env = { DATABASE_URL: server.url };
  let sql = await migratedDatabase(env);
  const follower = startFollower([], { env });
  let errors = '';
  follower.child.stderr.on('data', (chunk) => (errors += chunk));
  await follower.waitFor(1);
  for (const id of [1, 2]) {
    await sql.end();
    await server.halt();
    await vi.waitFor(() => expect(errors.match(/\n/g)).toHaveLength(id));
    await severalConnections(Number(new URL(server.url).port));
    await server.start();
    sql = postgres(server.url);
    await sql`insert into plants (id, name) values (${id}, 'Hoya')`;
    await follower.waitFor(1 + id);
  }
  expect(changesIn(follower.lines())).toEqual(['created 1', 'created 2']);
  follower.child.kill('SIGKILL');
  const { stderr } = await follower.result;
  expect(stderr).toMatch(
    /^(plant-store: warning: .*; the command goes on when the database responds\n){2}$/,
  );
  await sql.end();
  await server.stop();
});

it('continues the list after the database restarts, without a missing or a repeated plant', async () => {
  const server = await startPostgres({ fsync: 'off' });
  const env = { DATABASE_URL: server.url };
  const sql = await migratedDatabase(env);
  const count = 20_000;
  await sql`insert into plants (id, name)
    select id, repeat('x', 1000) from generate_series(1, ${count}::int) as id`;
  await sql.end();
  const child = spawn(process.execPath, [main, 'follow', '--from', 'start'], { env });
  await once(child.stdout, 'readable'); // The test reads the rest later, so the command waits.
  await server.halt();
  const ids: number[] = [];
  const allRead = (async () => {
    for await (const text of createInterface({ input: child.stdout })) {
      ids.push(JSON.parse(text).plant.id);
      if (ids.length === count) return;
    }
  })();
  const [warning] = await once(child.stderr, 'data');
  expect(String(warning)).toMatch(
    /^plant-store: warning: .* goes on when the database responds\n$/,
  );
  await server.start();
  await allRead;
  expect(ids).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await server.stop();
});

/** Accepts and closes connections at a port, until several connections have arrived. */
async function severalConnections(port: number): Promise<void> {
  let connections = 0;
  const listener = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(port, '127.0.0.1');
  await vi.waitFor(() => expect(connections).toBeGreaterThan(3));
  listener.close();
  await once(listener, 'close');
}

it('stops reading from the database while nobody reads the output', async () => {
  const { sql } = database;
  const count = 100_000;
  await sql`insert into plants (id, name)
    select id, repeat('x', 1000) from generate_series(1, ${count}::int) as id`;
  const readRows = async () => {
    const [row] = await sql<{ reads: number }[]>`
      select idx_tup_fetch::int as reads from pg_stat_user_tables
      where relname = 'plants'`;
    return row?.reads ?? 0;
  };
  const before = await readRows();
  const child = spawn(process.execPath, [main, 'follow', '--from', 'start'], { env });
  let last = before;
  await vi.waitFor(
    async () => {
      const previous = last;
      last = await readRows();
      if (last === before || last > previous) throw new Error(`${last} rows`);
    },
    // Postgres updates the number of read rows once a second, so the test asks less often.
    { timeout: 60_000, interval: 1_500 },
  );
  expect(last - before).toBeLessThan(count / 2);
  child.kill('SIGKILL');
  await once(child, 'exit');
});
