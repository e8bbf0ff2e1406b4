import { setTimeout } from 'node:timers/promises';
import { type Call, callServer, type Plant, parse, send, textOf } from './calls.ts';
import type { Random } from './random.ts';
import type { Server, World } from './world.ts';

/** The copy of the plants that a consumer of the feed keeps. */
export type Copy = ReturnType<typeof createCopy>;

type Contents = ReadonlyMap<bigint, string>;

interface Change {
  readonly type: string;
  readonly plant: Plant & { readonly id: bigint };
}

export function createCopy(name: string) {
  let plants = new Map<bigint, string>();
  const copy = {
    name,
    /** The errors of the feed, each in one sentence. */
    problems: [] as string[],
    /** The number of changes that the consumer has received. */
    changes: 0,
    /** How often the feed said that the consumer must list the plants again. */
    resets: 0,
    replace(contents: Contents): void {
      plants = new Map(contents);
    },
    apply(changes: readonly Change[]): void {
      for (const { type, plant } of changes) {
        if (type === 'deleted') plants.delete(plant.id);
        else if (['created', 'updated'].includes(type)) plants.set(plant.id, textOf(plant));
        else copy.problems.push(`${name} got a change of the type ${type}`);
      }
      copy.changes += changes.length;
    },
    /** Returns a few differences between the copy and the table. */
    differences(table: Contents): string[] {
      const ids = [...new Set([...table.keys(), ...plants.keys()])];
      const different = ids.filter((id) => table.get(id) !== plants.get(id));
      return different
        .slice(0, 5)
        .map((id) => `${id}: the table has ${table.get(id)}, ${name} has ${plants.get(id)}`);
    },
  };
  return copy;
}

/** A consumer that lists the plants and then follows the feed, as docs/feed.md describes. */
export interface Follower {
  readonly copy: Copy;
  stop(): Promise<void>;
}

/** Starts a consumer that polls the feed, and a consumer that reads events. */
export function startFollowers({ servers }: World, random: Random): Follower[] {
  return [
    follow('the copy of the polls', servers, async (server, after, deliver) => {
      // A short page may end within a transaction. A long page brings a slow consumer to the end of the feed.
      await setTimeout(random.whole(0, 100));
      const [limit, wait] = [random.pick([1, 1, 2, 3, 1_000]), random.pick([0, 0, 1])];
      const page = await read(server, `/plants/changes?after=${after}&limit=${limit}&wait=${wait}`);
      deliver(page.changes, page.next);
    }),
    follow('the copy of the events', servers, async (server, after, deliver) => {
      const signal = AbortSignal.timeout(random.whole(500, 5_000));
      for await (const { event, data, id } of events(server, after, signal)) {
        if (data !== undefined && id !== undefined && event !== undefined)
          deliver([{ type: event, plant: parse(data) }], id);
      }
    }),
  ];
}

/** Reads changes from a server, and delivers them with the cursor of the changes that follow. */
type Read = (
  server: Server,
  after: string,
  deliver: (changes: Change[], next: string) => void,
) => Promise<void>;

/** The feed no longer has the changes after the cursor. */
class CursorExpired extends Error {}

/** The server or the connection has ended, or the server cannot respond now. */
class Temporary extends Error {}

function follow(name: string, servers: readonly Server[], readChanges: Read): Follower {
  const copy = createCopy(name);
  let cursor: string | undefined;
  let isStopped = false;
  const step = async (server: Server) => {
    if (cursor === undefined) {
      const { next } = await read(server, '/plants/changes');
      copy.replace(await listPlants([server]));
      cursor = next;
    }
    await readChanges(server, cursor, (changes, next) => {
      copy.apply(changes);
      cursor = next;
    });
  };
  const run = async () => {
    for (let turn = 0; !isStopped; turn++) {
      const server = servers[turn % servers.length];
      if (!server) return;
      await step(server).catch(async (error) => {
        if (error instanceof CursorExpired) {
          cursor = undefined;
          copy.resets++;
        } else if (!(error instanceof Temporary)) copy.problems.push(`${name}: ${error}`);
        await setTimeout(50);
      });
    }
  };
  const running = run();
  return {
    copy,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

async function read(server: Server, path: string): Promise<{ changes: Change[]; next: string }> {
  const response = await send(server, 'GET', path);
  if (!response) throw new Temporary('no response');
  throwError(response.status, response.body.message);
  return response.body as { changes: Change[]; next: string }; // The cast is safe for status 200.
}

function throwError(status: number, message?: string): void {
  if (status === 410) throw new CursorExpired(message);
  // A server that was frozen may respond 408 to a request that was sent before.
  if (status === 408 || status >= 500) throw new Temporary(message);
  if (status !== 200) throw new Error(`a read of the feed got ${status}: ${message}`);
}

/** Reads events, as an EventSource does, until the stream ends or the signal aborts. */
async function* events({ url, token }: Server, after: string, signal: AbortSignal) {
  const authorization = `Bearer ${token}`;
  const headers = { authorization, accept: 'text/event-stream', 'last-event-id': after };
  const temporary = (error: unknown) => {
    throw new Temporary(String(error));
  };
  const response = await fetch(`${url}/plants/changes`, { headers, signal }).catch(temporary);
  if (!response.ok) throwError(response.status, await response.text().catch(temporary));
  const chunks = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const chunk = await chunks?.read().catch(temporary);
    if (!chunk || chunk.done) return;
    const parts = (text + chunk.value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = part.split('\n').map((line) => line.split(/: ?(.*)/s));
      yield Object.fromEntries(fields) as { event?: string; data?: string; id?: string };
    }
  }
}

/** Lists all plants. Records the calls in `calls`, because each page is a read of all ids in its range. */
export async function listPlants(
  servers: readonly Server[],
  calls: Call[] = [],
): Promise<Contents> {
  const server = servers.find(({ url }) => url !== undefined);
  const plants = new Map<bigint, string>();
  let [from, after] = [lowestId, String(lowestId)];
  for (;;) {
    if (!server) throw new Temporary('no server runs');
    const call = await callServer(server, { type: 'list', from, after, limit: 1_000 });
    const { status = 503, body } = call.response ?? {};
    throwError(status, body?.message);
    calls.push(call);
    for (const plant of body?.plants ?? []) plants.set(plant.id, textOf(plant));
    if (body?.next === undefined) return plants;
    from = (body.plants?.at(-1)?.id ?? from) + 1n;
    after = body.next;
  }
}

/** No plant of the crash suite has this id or a lower id. */
const lowestId = -(2n ** 62n);
