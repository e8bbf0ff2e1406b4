import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openPlantStore } from '@plant-store/core';
import { endWithThisProcess, listen } from '@plant-store/test-setup';
import fc from 'fast-check';
import type postgres from 'postgres';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, vi } from 'vitest';

/** Every run has a new seed. To repeat a run with the same choices, set `FAST_CHECK_SEED`. */
export const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

/** The test causes faults until the plants have changed this number of times. */
const minChanges = Number(process.env['WEBHOOK_CHANGES'] ?? 2_500);

const random = fc.sample(fc.nat(11), { numRuns: 20_000, seed });
const choose = () => random.pop() ?? 0;

interface Message {
  type: string;
  data: { changes: { type: 'created' | 'deleted'; plant: { id: number; name: string } }[] };
}

/**
 * The responses of the endpoint. The last three functions send the status 503, no response, and the beginning
 * of a response.
 */
const responses: ((response: ServerResponse) => void)[] = [
  (response) => response.end(),
  (response) => response.writeHead(204).end(),
  (response) => void setTimeout(200).then(() => response.end()),
  (response) => response.writeHead(503, { 'retry-after': '0' }).end(),
  (response) => response.destroy(),
  (response) => response.socket?.end('HTTP/1.1 2'),
];

/** Starts an endpoint that builds a list of plants from the messages. Repeated messages change nothing. */
async function startCopy() {
  const seen = new Set<string>();
  const copy = {
    url: '',
    secret: '',
    plants: new Map<number, string>(),
    errors: [] as unknown[],
    attempts: 0,
    messages: () => seen.size,
  };
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined); // A killed instance sends no complete body.
    if (body === undefined) return;
    copy.attempts += 1;
    const id = String(request.headers['webhook-id']);
    try {
      new Webhook(copy.secret).verify(body, request.headers as Record<string, string>);
    } catch (error) {
      copy.errors.push(error);
    }
    const choice = choose() % responses.length;
    // An endpoint may process a message even if the response is an error.
    if (choice < responses.length / 2 || choose() % 2 === 0) process(id, JSON.parse(body));
    responses[choice]?.(response);
  });
  function process(id: string, { type, data }: Message): void {
    if (seen.has(id)) return;
    seen.add(id);
    if (type !== 'plants.changed') copy.errors.push(type);
    for (const { type, plant } of data.changes) {
      if (type === 'created') copy.plants.set(plant.id, plant.name);
      else copy.plants.delete(plant.id);
    }
  }
  copy.url = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return copy;
}

const program = fileURLToPath(new URL('webhook-instance.ts', import.meta.url));

async function startInstance(databaseUrl: string): Promise<ChildProcess> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [program, databaseUrl], { stdio: [...stdio] });
  endWithThisProcess(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

interface FaultyStore {
  /** The database URLs of the two instances. */
  readonly urls: readonly [string, string];
  readonly admin: postgres.Sql;
  /** Kills a server of the database, and starts this server again. */
  readonly restart: () => Promise<void>;
}

/**
 * Kills, freezes and restarts two instances and the database, while the instances change plants. Afterwards,
 * the endpoint must have exactly the plants of the table.
 */
export async function expectCopyAfterFaults({ urls, admin, restart }: FaultyStore): Promise<void> {
  const copy = await startCopy();
  const webhooks = { allow: ['127.0.0.1'] };
  const options = { requireConnection: true, webhooks };
  const store = await openPlantStore({ databaseUrl: urls[1] }, options);
  copy.secret = (await vi.waitFor(() => store.webhooks.create(copy.url), 10_000)).secret;
  await store.close();
  const instances = [await startInstance(urls[0]), await startInstance(urls[1])];
  const faults = [
    async (i: 0 | 1) => {
      instances[i]?.kill('SIGKILL');
      await endLease();
      instances[i] = await startInstance(urls[i]);
    },
    endLease,
    async (i: 0 | 1) => {
      instances[i]?.kill('SIGSTOP');
      await endLease();
      await setTimeout(2_500);
      instances[i]?.kill('SIGCONT');
    },
    restart,
  ];
  for (let i = 0; i < 2 * faults.length || (await changes()) < minChanges; i += 1) {
    await setTimeout(200 + 100 * choose());
    await faults[i % faults.length]?.(choose() % 2 === 0 ? 0 : 1);
  }
  for (const instance of instances) instance.kill('SIGUSR2');

  await vi.waitFor(
    async () => {
      expect(await admin`select from webhooks where message is null`).toHaveLength(1);
      const rows = await admin`select id::int, name from plants`;
      expect(copy.plants).toEqual(new Map(rows.map(({ id, name }) => [id, name])));
    },
    { timeout: 120_000, interval: 500 },
  );
  expect(copy.errors).toEqual([]);
  expect(copy.plants.size).toBeGreaterThan(0);
  expect(copy.attempts).toBeGreaterThan(copy.messages());

  /** Ends the lease early. Another instance then sends messages while the old instance still sends. */
  async function endLease(): Promise<void> {
    await admin`update webhooks set held_until = now()`;
  }

  function changes(): Promise<number> {
    return vi.waitFor(async () => {
      const [row] = await admin`
        select (select count(*) from plants) + 2 * (select count(*) from plant_deletions) as count`;
      return Number(row?.['count']);
    }, 10_000);
  }
}
