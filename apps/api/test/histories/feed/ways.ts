import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { citus } from '@plant-store/citus';
import { createPlantStoreClient } from '@plant-store/client';
import { type OpenPlantReader, openPlantReader, PlantStoreError } from '@plant-store/core/read';
import type { PlantChanges, StoredPlant } from '@plant-store/schemas';
import { atExit } from '@plant-store/test-setup';
import superjson from 'superjson';
import type { Random } from '../random.ts';
import { CursorExpired, throwError, throwTrpcError, UnexpectedError } from './feed-error.ts';
import type { FeedWorld } from './feed-world.ts';
import { readEvents } from './read-events.ts';

/** Reads the feed. Delivers the pages after a cursor until an error occurs or the signal aborts. */
export type Way = (
  world: FeedWorld,
  random: Random,
  after: string,
  deliver: (page: PlantChanges) => void,
  signal: AbortSignal,
) => Promise<void>;

export const ways: Record<string, Way> = {
  async core({ feedUrl }, _, after, deliver, signal) {
    let reader: OpenPlantReader | undefined;
    try {
      reader = await openPlantReader({ databaseUrl: feedUrl, cluster: citus }, { onPrimary: true });
      for await (const page of reader.follow({ after, signal })) deliver(page);
    } catch (error) {
      if (!(error instanceof PlantStoreError)) throw error;
      if (error.kind === 'cursorExpired') throw new CursorExpired(error.message);
      throw new UnexpectedError(error.message);
    } finally {
      await reader?.close();
    }
  },

  async REST(world, random, after, deliver, signal) {
    for (let cursor = after; ; ) {
      const limit = random.pick([1, 2, 7, 50, 1_000]);
      const wait = random.pick([0, 0, 1, 2, 20]);
      const query = { after: cursor, limit, wait };
      const page = await get<Json<PlantChanges>>(world, random, '/plants/changes', query, signal);
      deliver(toPage(page));
      cursor = page.next;
      if (wait === 0) await setTimeout(random.whole(0, 250), undefined, { signal });
    }
  },

  /** After a restart, an instance uses its old port. The client therefore connects again by itself. */
  async client(world, random, after, deliver, signal) {
    const { url = '' } = world.instanceOf(random);
    const { plantChanges } = createPlantStoreClient({ url, token: world.token });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    plantChanges.subscribe(
      { after },
      { signal, onData: ({ data }) => deliver(data), onError: reject, onComplete: resolve },
    );
    await promise.catch((error) => throwError(Object(error.data)));
  },

  async 'tRPC events'(world, random, after, deliver, signal) {
    const path = `/trpc/plantChanges?input=${encodeURIComponent('{"json":{}}')}`;
    for await (const { event, data = '' } of readEvents(world, random, path, after, signal)) {
      if (event === 'serialized-error') throwTrpcError(JSON.parse(data));
      if (event === undefined) deliver(superjson.deserialize(JSON.parse(data)));
    }
  },

  async 'REST events'(world, random, after, deliver, signal) {
    const query = random.pick(['', `?after=${after}`]);
    const events = readEvents(world, random, `/plants/changes${query}`, after, signal);
    for await (const { event, data, id: next } of events) {
      if (data === undefined || next === undefined) continue;
      if (event !== 'created' && event !== 'deleted') throw new UnexpectedError(`event ${event}`);
      deliver({ changes: [{ type: event, plant: toPlant(JSON.parse(data)) }], next });
    }
  },

  async 'command line'({ feedUrl }, random, after, deliver, signal) {
    const child = spawn(process.execPath, [commandLine, 'follow', '--json', '--from', after], {
      env: { DATABASE_URL: feedUrl, PLANT_STORE_ENV_FILE: devNull },
      signal,
      killSignal: random.pick(['SIGINT', 'SIGTERM', 'SIGKILL']),
    }).on('error', () => {}); // Node emits the abort reason of the signal as an error.
    child.once(
      'exit',
      atExit(() => child.kill('SIGKILL')),
    );
    child.stderr.resume();
    for await (const line of createInterface({ input: child.stdout })) {
      const { type, plant, cursor, ...error } = JSON.parse(line);
      if (signal.aborted) return;
      if (!plant) throwError(error);
      const { created_at: createdAt, ...content } = plant;
      deliver({ changes: [{ type, plant: toPlant({ ...content, createdAt }) }], next: cursor });
    }
  },
};

const commandLine = fileURLToPath(new URL('../../../../cli/bin/plant-store.js', import.meta.url));

/** Gets a cursor, and then lists all plants. */
export async function list(world: FeedWorld, random: Random, signal: AbortSignal) {
  const path = '/plants/changes';
  const { next: cursor } = await get<{ next: string }>(world, random, path, {}, signal);
  const plants: StoredPlant[] = [];
  for (let after: number | undefined; ; ) {
    const query = { limit: random.pick([100, 1_000]), ...(after !== undefined && { after }) };
    const page = await get<PlantList>(world, random, '/plants', query, signal);
    plants.push(...page.plants.map(toPlant));
    if (page.next === undefined) return { cursor, plants };
    after = page.next;
  }
}

type Json<T> = T extends bigint ? number : T extends Date ? string : { [K in keyof T]: Json<T[K]> };

interface PlantList {
  plants: Json<StoredPlant>[];
  next?: number;
}

const toPlant = ({ id, createdAt, ...plant }: Json<StoredPlant>): StoredPlant =>
  ({ ...plant, id: BigInt(id), createdAt: new Date(createdAt) }) as StoredPlant;

const toPage = ({ changes, next }: Json<PlantChanges>): PlantChanges => ({
  changes: changes.map(({ type, plant }) => ({ type, plant: toPlant(plant) })),
  next,
});

/** Sends a request to any instance. */
async function get<T>(
  world: FeedWorld,
  random: Random,
  path: string,
  query: Record<string, string | number>,
  signal: AbortSignal,
): Promise<T> {
  const { url } = world.instanceOf(random);
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  const headers = { authorization: `Bearer ${world.token}` };
  const response = await fetch(`${url}${path}?${pairs.join('&')}`, { headers, signal });
  const body: unknown = await response.json();
  if (!response.ok) throwError(Object(body));
  return body as T; // The cast is safe, because other tests check the types of the responses.
}
