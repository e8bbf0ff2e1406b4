import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, it, onTestFinished } from 'vitest';
import { serve, stopProgram, token } from '../fixtures/program.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { startSlowClients } from './slow-clients.ts';

/** The smallest heap and the smallest memory that docs/maintain.md allows, in MiB. */
const heap = 160;
const memory = 450;

const clients = 400;
const headers = { authorization: `Bearer ${token}` };

/** The clients send requests for this many milliseconds. */
const duration = 10_000;

/** The cursors of the start and of the end of the feed. */
type Cursors = Record<'start' | 'latest', string | undefined>;

const get = (path: string) => requestText(`GET ${path}`, token);

/** The text of a request with ten calls over tRPC. */
const batchOf = (procedure: string, input: object) => {
  const inputs = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i, { json: input }]));
  const query = `batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`;
  return get(`/trpc/${Array(10).fill(procedure)}?${query}`);
};

const plants = Array.from({ length: 1_000 }, (_, i) => ({ id: -i, name: 'x'.repeat(900) }));
const batch = requestText('POST /plants/batch', token, JSON.stringify({ plants }));

/**
 * The kinds of requests. The operating system can buffer some MiB of responses for each connection. To fill
 * this buffer, some clients send eight requests without a pause.
 */
const requests = [
  () => get('/plants?limit=1000').repeat(8),
  () => batchOf('listPlants', { limit: 1_000 }),
  ({ start }: Cursors) => get(`/plants/changes?after=${start}`).repeat(8),
  ({ start }: Cursors) => batchOf('listPlantChanges', { after: start }),
  ({ latest }: Cursors) => get(`/plants/changes?after=${latest}&wait=20`).repeat(8),
  () => get('/plants/500').repeat(8),
  () => batch,
];

it('the server with the least heap responds to 400 clients that send all kinds of requests and read slowly', async () => {
  const { program, url, addPlants } = await startWithLeastHeap();
  const start = await latestCursor(url);
  await addPlants(1);
  const cursors = { start, latest: await latestCursor(url) };

  const texts = Array.from({ length: clients }, (_, i) => () => {
    return requests[i % requests.length]?.(cursors) ?? '';
  });
  const slow = await startSlowClients(url, texts);
  let mostMemory = 0;
  const end = performance.now() + duration;
  for (let from = 10_001; performance.now() < end; from += 1_000) {
    await addPlants(from);
    await setTimeout(500);
    const { value } = await program.metrics();
    mostMemory = Math.max(mostMemory, value('process_resident_memory_bytes') / 2 ** 20);
    cursors.latest = (await latestCursor(url)) ?? cursors.latest;
  }
  slow.stop();
  console.log(`${JSON.stringify(slow.outcomes)}, at most ${Math.round(mostMemory)} MiB`);
  const others = Object.keys(slow.outcomes).filter((outcome) => !expected.test(outcome));
  expect(others).toEqual([]);
  const list = async () => (await fetch(`${url}/plants?limit=1`, { headers })).status;
  await expect.poll(list).toBe(200);
  expect(mostMemory).toBeLessThan(memory);
  expect(await stopProgram(program)).toBe(0);
});

it('the server with the least heap sends 2,000 changes to each of 100 streams', async () => {
  const { program, url, addPlants } = await startWithLeastHeap();
  const start = await latestCursor(url);
  for (const from of [1, 1_001]) await addPlants(from);
  const end = new AbortController();
  const streams = Array.from({ length: 100 }, () => followChanges(url, start, end.signal));
  const counts = () => new Set(streams.map(({ created }) => created));
  await expect.poll(counts, { timeout: 240_000 }).toEqual(new Set([2_000]));
  end.abort();
  expect(await stopProgram(program)).toBe(0);
});

async function startWithLeastHeap() {
  const program = await serve({
    PLANT_STORE_METRICS_PORT: '0',
    NODE_OPTIONS: `--max-old-space-size=${heap}`,
    LOG_LEVEL: 'fatal',
  });
  const sql = postgres(program.databaseUrl, { max: 1 });
  onTestFinished(() => sql.end());
  const addPlants = (from: number) => sql`
    insert into plants (id, name)
    select id, '🪴' || repeat('x', case when id % 1000 = 500 then 1100 else 900 end)
    from generate_series(${from}::int, ${from + 999}::int) as id`;
  return { program, url: program.url, addPlants };
}

/** Counts the changes of a stream. When the server ends the stream, the count continues in a new stream. */
function followChanges(url: string, start: string | undefined, signal: AbortSignal) {
  const counter = { created: 0 };
  void follow();
  return counter;

  async function follow(lastEventId = start): Promise<void> {
    let last = lastEventId;
    try {
      const address = `${url}/trpc/plantChanges?lastEventId=${last}`;
      const { body } = await fetch(address, { headers, signal });
      let event = '';
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        event += text;
        const [, id] = /^id: (.*)\n\n/m.exec(event.slice(-200)) ?? [];
        if (id === undefined) continue;
        counter.created += event.split('"type":"created"').length - 1;
        [last, event] = [id, ''];
      }
      await setTimeout(50, undefined, { signal });
    } catch {
      if (signal.aborted || !last) return;
    }
    await follow(last);
  }
}

/** Each call gets 200 or 50301. On a busy machine, the database is too slow for some calls. */
const expected = /^(200|207|503)( 5030[01])*$/;

/** Returns the cursor of the end of the feed, or undefined while the server is overloaded. */
async function latestCursor(url: string): Promise<string | undefined> {
  const response = await fetch(`${url}/plants/changes`, { headers });
  const { next } = (await response.json()) as { next?: string };
  return next;
}
