import { hasPosixSignals, startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { Call } from '../../src/database/pool/call.ts';
import { type CreateOutcome, writeBatch } from '../../src/group-commit/creates.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { outcomeUnknown } from '../../src/plants/create-errors.ts';
import { createPlantStatements } from '../../src/plants/statements.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { closeAtEnd } from '../fixtures/databases.ts';

// A commit waits for the synchronous standby. The tests stop the standby to make a commit slow.

let url: string;
let admin: postgres.Sql;
let standby: postgres.Sql;

const test = it.runIf(hasPosixSignals);

beforeAll(async () => {
  if (!hasPosixSignals) return;
  const server = await startPostgres({ fsync: 'off' });
  const replica = await server.startStandby();
  url = server.url;
  admin = postgres(url, { max: 1 });
  standby = postgres(replica.url, { max: 1 });
  await admin.unsafe("alter system set synchronous_standby_names = '*'");
  await admin`select pg_reload_conf()`;
  return async () => {
    await Promise.all([admin.end(), standby.end()]);
    await replica.stop();
    await server.stop();
  };
});

/** Stops the standby. Returns a function that lets the standby continue. */
async function stopStandby(): Promise<() => void> {
  const receivers = () => standby<{ pid: number }[]>`select pid from pg_stat_wal_receiver`;
  await vi.waitFor(async () => expect(await receivers()).toHaveLength(1));
  const [receiver] = await receivers();
  const signal = (name: NodeJS.Signals) => void process.kill(receiver?.pid ?? 0, name);
  signal('SIGSTOP');
  onTestFinished(() => signal('SIGCONT'));
  return () => signal('SIGCONT');
}

const waitingCommits = () => admin`select from pg_stat_activity where wait_event = 'SyncRep'`;

test('creates that arrive during a slow commit share the next statement', async () => {
  const store = closeAtEnd(await openPlantStore({ databaseUrl: url }));
  await store.create({ id: 1n, name: 'before' });
  const sizes: number[] = [];
  store.events.on('batch', ({ size }) => sizes.push(size));
  const resume = await stopStandby();
  const creates: Promise<unknown>[] = [];
  const create = () => {
    const id = BigInt(creates.length + 2);
    creates.push(store.create({ id, name: `plant ${id}` }, { deadline: deadlineIn(60_000) }));
  };
  create();
  await vi.waitFor(async () => expect(await waitingCommits()).toHaveLength(1));
  const [{ now } = {}] = await admin`select clock_timestamp()::text as now`;
  // Returns the sessions in which the store has asked whether the first create is committing.
  const asked = () => admin`
    select from pg_stat_activity
    where application_name like 'plant-store%' and query like '%syncrep%' and state = 'idle'
      and query_start > ${now}::text::timestamptz`;
  await vi.waitFor(async () => expect(await asked()).not.toHaveLength(0));
  expect(await waitingCommits()).toHaveLength(1);
  // The test starts more creates than one statement usually contains.
  for (let i = 0; i < 150; i++) create();
  resume();
  await Promise.all(creates);
  expect(sizes).toEqual([1, creates.length - 1]);
});

test('a create gets its response even when another create in the statement is already late', async () => {
  const database = closeAtEnd(await openPostgres(url));
  const statements = createPlantStatements(database);
  const create = (id: bigint, deadline: number) =>
    new Call<{ id: bigint; name: string }, CreateOutcome>({ id, name: 'x' }, { deadline }, (call) =>
      call.reject(outcomeUnknown()),
    );
  const late = create(1_000n, deadlineIn(2_000));
  const waiting = [1_001n, 1_002n].map((id) => create(id, deadlineIn(60_000)));
  const resume = await stopStandby();
  const written = writeBatch(statements, [late, ...waiting], () => {});
  await expect(late.outcome).rejects.toMatchObject({ code: 50300 });
  // The plant is visible before the standby has the commit, so another client can delete the plant.
  await admin`set synchronous_commit = off`;
  await vi.waitFor(async () => {
    const { count } = await admin`delete from plants where id = 1002`;
    expect(count).toBe(1);
  });
  resume();
  await Promise.allSettled(waiting.map(({ outcome }) => outcome));
  expect(await waiting[0]?.outcome).toBe('exists');
  await written;
  // The plant 1002 is missing, because the store has not inserted the deleted plant again.
  expect(await admin`select id::int from plants where id >= 1000`).toEqual([
    { id: 1000 },
    { id: 1001 },
  ]);
});

test('a create that waits for the lock of another session does not delay other creates', async () => {
  const store = closeAtEnd(await openPlantStore({ databaseUrl: url }));
  const locked = store.create({ id: 2_000n, name: 'before' });
  await locked;
  const other = postgres(url, { max: 1 });
  onTestFinished(() => other.end());
  await other`begin`;
  await other`insert into plants (id, name) values (2001, 'from elsewhere')`;
  const blocked = store.create({ id: 2_001n, name: 'from a client' });
  expect(await store.create({ id: 2_002n, name: 'next' })).toEqual({ name: 'next' });
  await other`rollback`;
  expect(await blocked).toEqual({ name: 'from a client' });
});
