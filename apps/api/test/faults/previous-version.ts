import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { onTestFinished } from 'vitest';
import type { Row } from './stored-plants.ts';

export type PreviousVersion = Awaited<ReturnType<typeof startPreviousVersion>>;

/**
 * Imitates an instance of the previous version, which lacks the last migration. The imitation runs the
 * migrations and the statements of the previous version. The instance sends four batches of plants at
 * the same time. The ids of the plants start at `firstId`.
 */
export async function startPreviousVersion(url: string, firstId: number) {
  const connection = { application_name: 'previous version' };
  const sql = postgres(url, { max: 4, fetch_types: false, onnotice: () => {}, connection });
  onTestFinished(() => sql.end({ timeout: 0 }));
  await migrate(sql);
  const token = createHash('sha256').update(randomUUID()).digest();
  await sql`insert into access_tokens (sha256, name) values (${token}, ${`previous ${firstId}`})`;

  /** The plants that the instance has acknowledged so far. */
  const acknowledged: Row[] = [];
  let nextId = firstId;
  let isStopped = false;

  const createBatch = async () => {
    const [owner] = await sql`
      select sha256, name, created_at, expires_at, revoked_at, last_used_at
      from access_tokens where sha256 in (${token})`;
    if (!owner) throw new Error('the token of the previous version is gone');
    const plants = Array.from({ length: 3 }, () => {
      const id = nextId++;
      return { id, name: randomUUID(), tag: id % 2 ? `tag ${id % 50}` : null };
    });
    const { count } = await sql`
      insert into plants ${sql(plants, 'id', 'name', 'tag')} on conflict (id) do nothing`;
    if (count !== plants.length) throw new Error(`${count} of ${plants.length} plants are stored`);
    await sql`update access_tokens set last_used_at = now() where sha256 = ${token}`;
    acknowledged.push(...plants);
  };
  const running = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isStopped) {
        await createBatch();
        await setTimeout(10);
      }
    }),
  );
  running.catch(() => {}); // The test gets the error of a failed statement from `acknowledges` or `stop`.

  return {
    acknowledged,
    /** Resolves after this number of further acknowledgements. Rejects when a statement fails. */
    async acknowledges(plants: number): Promise<void> {
      const enough = acknowledged.length + plants;
      const wait = async () => {
        while (acknowledged.length < enough && !isStopped) await setTimeout(10);
      };
      await Promise.race([wait(), running]);
    },
    /** Stops the instance. Rejects when a statement has failed. */
    async stop(): Promise<void> {
      isStopped = true;
      await running;
      await sql.end();
    },
  };
}

const migrationsFolder = new URL('../../../../packages/core/drizzle/', import.meta.url);

interface Journal {
  entries: { when: number; tag: string }[];
}

/**
 * Applies all migrations except the last migration. Like Drizzle, this function skips all migrations up to
 * the newest migration of the database.
 */
async function migrate(sql: postgres.Sql): Promise<void> {
  const text = await readFile(new URL('meta/_journal.json', migrationsFolder), 'utf8');
  const { entries }: Journal = JSON.parse(text);
  await sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${0x706c616e7473})`;
    await transaction`create schema if not exists drizzle`;
    await transaction`
      create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint)`;
    const [last] = await transaction`
      select created_at from drizzle.__drizzle_migrations order by created_at desc limit 1`;
    for (const { when, tag } of entries.slice(0, -1)) {
      if (when <= Number(last?.['created_at'] ?? 0)) continue;
      const migration = await readFile(new URL(`${tag}.sql`, migrationsFolder), 'utf8');
      await transaction.unsafe(migration);
      const hash = createHash('sha256').update(migration).digest('hex');
      await transaction`
        insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`;
    }
  });
}
