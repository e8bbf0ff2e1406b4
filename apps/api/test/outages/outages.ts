import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { openPlantStore } from '@plant-store/core';
import {
  type FaultProxy,
  listen,
  type SlowFlush,
  type StartedProcess,
  type TestPostgres,
} from '@plant-store/test-setup';
import { type PlantsDatabase, plantsOn, setSetting } from '../faults/plants-database.ts';
import { openSocket } from '../fixtures/raw-request.ts';
import { useCertificate } from './use-certificate.ts';

/** A store with clients, in which an outage happens. */
interface World {
  database: PlantsDatabase & { worker?: TestPostgres | undefined };
  /** The proxy between the store and its database. */
  proxy: FaultProxy;
  server: StartedProcess;
  target: { url: string; token: string };
  /** The file with the milliseconds by which the server's clock is wrong. */
  clockShift: string;
  disk: SlowFlush;
  /** Runs a function after the outage. */
  onEnd(end: () => unknown): void;
}

export interface Outage {
  name: string;
  /** Causes the outage. The outage lasts until the program stops the whole store. */
  cause(world: World): unknown;
  /** The largest size of the database's files in KiB. */
  maxFileSize?: number;
  /** Whether the server verifies the certificate of the database. */
  isVerified?: boolean;
  /** Starts another database for the plants. */
  startDatabase?(): Promise<World['database']>;
  /** A command that starts the server; see `startProcess`. */
  shell?: string;
}

/** The outages in the order of the page docs/outages.md. */
export const outages: Outage[] = [
  { name: 'database stopped', cause: ({ database }) => database.server.halt() },
  {
    name: 'database silent',
    cause({ proxy }) {
      proxy.fault = 'blackhole';
    },
  },
  {
    name: 'database read-only',
    cause: ({ database }) => setSetting(database, 'set default_transaction_read_only = on'),
  },
  {
    name: 'standby absent',
    cause: ({ database }) => setSetting(database, "set synchronous_standby_names = 'nobody'"),
  },
  { name: 'instance frozen', cause: ({ server }) => server.child.kill('SIGSTOP') },
  {
    name: 'table locked',
    cause: (world) => inTransaction(world, 'lock table plants in access exclusive mode'),
  },
  {
    name: 'feed held back',
    cause: (world) => inTransaction(world, "insert into plants (id, name) values (-1, 'theirs')"),
  },
  {
    name: 'sessions used up',
    async cause({ database: { admin } }) {
      await admin`alter role gardener connection limit 0`;
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gardener'`;
    },
  },
  {
    name: "database's certificate expired",
    isVerified: true,
    async cause({ database }) {
      await useCertificate(database, -1_000);
      await database.admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gardener'`;
    },
  },
  {
    name: "database's disk full",
    maxFileSize: 4 * 1024,
    async cause({ database }) {
      // An automatic vacuum could free space on the disk during the outage.
      await setSetting(database, 'set autovacuum = off');
      const fill = database.admin`
        insert into plants select -generate_series(1, 1000000), repeat('x', 300)`;
      await fill.catch(() => {}); // This insert fails, because it fills the disk.
    },
  },
  { name: "database's disk slow to flush", cause: ({ disk }) => disk.set(2_000) },
  {
    name: 'trigger added that rejects plants',
    cause: ({ database: { admin } }) =>
      admin.unsafe(`
        create function reject() returns trigger language plpgsql as
          $$ begin raise exception 'no more plants'; end $$;
        create trigger reject before insert on plants for each row execute function reject()`),
  },
  {
    name: 'row-level security switched on',
    cause: ({ database: { admin } }) =>
      admin.unsafe(`
        alter table plants enable row level security;
        alter table plants force row level security`),
  },
  {
    name: 'webhook failing',
    async cause({ database: { url }, onEnd }) {
      const endpoint = createServer((_request, response) => response.writeHead(500).end());
      const endpointUrl = await listen(endpoint);
      onEnd(() => void endpoint.close());
      const options = { webhooks: { allow: ['127.0.0.1'] } };
      const store = await openPlantStore({ databaseUrl: url }, options);
      await store.webhooks.create(endpointUrl);
      await store.close();
    },
  },
  {
    name: 'token no longer valid',
    cause({ target }) {
      target.token = 'plant_expired';
    },
  },
  {
    name: 'clock of the instance five minutes ahead',
    cause: ({ clockShift }) => writeFileSync(clockShift, '300000'),
  },
  {
    name: 'clock of the database five minutes ahead',
    cause: ({ disk }) => disk.shiftClock(300),
  },
  { name: 'instance short of memory', cause: ({ server }) => server.child.kill('SIGUSR2') },
  {
    name: 'instance short of CPU',
    cause({ server: { child }, onEnd }) {
      const turns = setInterval(async () => {
        child.kill('SIGSTOP');
        await setTimeout(900);
        child.kill('SIGCONT');
      }, 1_000);
      onEnd(() => clearInterval(turns));
    },
  },
  {
    name: 'instance short of file descriptors',
    shell: 'ulimit -n 256; exec "$@"',
    cause({ target, onEnd }) {
      const sockets = Array.from({ length: 256 }, () => openSocket(target.url));
      onEnd(() => sockets.forEach((socket) => void socket.destroy()));
    },
  },
];

/** Runs a statement in a transaction that stays open until the end of the outage. */
async function inTransaction({ database, onEnd }: World, statement: string): Promise<void> {
  const other = plantsOn(database.server);
  const end = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const transaction = other.admin.begin(async (sql) => {
    await sql.unsafe(statement);
    started.resolve();
    await end.promise;
  });
  transaction.catch(started.reject);
  onEnd(async () => {
    end.resolve();
    await transaction.catch(() => {});
    await other.stop();
  });
  await started.promise;
}
