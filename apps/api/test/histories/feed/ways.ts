import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPlantStoreClient } from '@plant-store/client';
import { type OpenPlantReader, openPlantReader, PlantStoreError } from '@plant-store/core/read';
import type { PlantChanges, PlantPage, StoredPlant } from '@plant-store/schemas';
import { endWithThisProcess } from '@plant-store/test-setup';
import superjson from 'superjson';
import { callers, parseOutput } from '../../fixtures/callers.ts';
import type { Random } from '../random.ts';
import { CursorExpired, throwError, throwTrpcError, UnexpectedError } from './feed-error.ts';
import { type FeedWorld, pickTarget } from './feed-world.ts';
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
      reader = await openPlantReader({ databaseUrl: feedUrl }, { onPrimary: true });
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
      const page: PlantChanges = await call(world, random, 'listPlantChanges', query, signal);
      deliver(page);
      cursor = page.next;
      if (wait === 0) await setTimeout(random.whole(0, 250), undefined, { signal });
    }
  },

  /** After a restart, an instance uses its old port. The client therefore connects again by itself. */
  async client(world, random, after, deliver, signal) {
    const { plantChanges } = createPlantStoreClient(pickTarget(world, random));
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
      deliver({ changes: [{ type: event, plant: parseOutput(data) }], next });
    }
  },

  async 'command line'({ feedUrl }, random, after, deliver, signal) {
    const child = spawn(process.execPath, [commandLine, 'follow', '--json', '--from', after], {
      env: { DATABASE_URL: feedUrl, PLANT_STORE_ENV_FILE: devNull },
      signal,
      killSignal: random.pick(['SIGINT', 'SIGTERM', 'SIGKILL']),
    }).on('error', () => {}); // Node emits the abort reason of the signal as an error.
    endWithThisProcess(child);
    child.stderr.resume();
    for await (const line of createInterface({ input: child.stdout })) {
      const output = line.replace('"created_at":', '"createdAt":');
      const { type, plant, cursor, ...error } = parseOutput(output);
      if (signal.aborted) return;
      if (!plant) throwError(error);
      deliver({ changes: [{ type, plant }], next: cursor });
    }
  },
};

const commandLine = fileURLToPath(new URL('../../../../cli/bin/plant-store.js', import.meta.url));

/** Gets a cursor, and then lists all plants. */
export async function list(world: FeedWorld, random: Random, signal: AbortSignal) {
  const first: PlantChanges = await call(world, random, 'listPlantChanges', {}, signal);
  const plants: StoredPlant[] = [];
  for (let after: bigint | undefined; ; ) {
    const query = { limit: random.pick([100, 1_000]), ...(after !== undefined && { after }) };
    const page: PlantPage = await call(world, random, 'listPlants', query, signal);
    plants.push(...page.plants);
    if (page.next === undefined) return { cursor: first.next, plants };
    after = page.next;
  }
}

/** Calls any instance over REST. */
async function call<T>(
  world: FeedWorld,
  random: Random,
  procedure: 'listPlants' | 'listPlantChanges',
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<T> {
  const target = pickTarget(world, random);
  const { output, ...error } = await callers[0].call(target, procedure, input, signal);
  if (output === undefined) throwError(error);
  return output as T; // The cast is safe, because other tests check the types of the responses.
}
