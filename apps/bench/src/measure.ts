import { connect } from 'node:net';
import { openPlantStore } from '@plant-store/core';
import { createDatabase, runSql, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import type { Case, Contender } from './contenders.ts';
import { accessToken, loadOf, storePlants } from './load.ts';
import { startServer, usageOf } from './server.ts';

/** `server` and `postgres` are the microseconds of CPU time for a request. */
export interface Figures {
  readonly perSecond: number;
  readonly server: number;
  readonly postgres: number;
  readonly megabytes: number;
}

/** The figures of a contender in each round, and the contender's faults. */
export interface Result {
  readonly name: string;
  readonly contender: string;
  readonly rounds: Figures[];
  readonly faults: string[];
}

/** A round measures each contender in this number of turns. */
const turns = 3;

/**
 * Measures the cases. In each round, every contender is a new process with a new table. The contenders of a
 * case get load in turns, so that a change in the machine's speed affects all of them.
 */
export async function measure(
  server: TestPostgres,
  { cases, rounds, seconds }: { cases: readonly Case[]; rounds: number; seconds: number },
): Promise<Result[]> {
  const results = cases.map(({ name, contenders }) =>
    contenders.map((each): Result => ({ name, contender: each.name, rounds: [], faults: [] })),
  );
  for (let round = 1; round <= rounds; round++) {
    for (const [i, { name, contenders }] of cases.entries()) {
      const running = [];
      for (const contender of contenders) {
        const started = await start(server, contender);
        await started.send(Math.ceil((seconds * 2) / 3)); // V8 compiles the hot code in this time.
        running.push({ ...started, turns: [] as Figures[] });
      }
      for (let turn = 0; turn < turns; turn++) {
        for (const each of turn % 2 === 0 ? running : running.toReversed()) {
          each.turns.push(await each.measure(Math.ceil(seconds / turns)));
        }
      }
      for (const [place, each] of running.entries()) {
        results[i]?.[place]?.rounds.push(medians(each.turns));
        results[i]?.[place]?.faults.push(...(await each.stop()));
      }
      console.error(`round ${round} of ${rounds}: ${name}`);
    }
  }
  return results.flat();
}

/** Returns the median of each figure. */
export function medians(all: readonly Figures[]): Figures {
  const of = (name: keyof Figures) => median(all.map((figures) => figures[name]));
  return {
    perSecond: of('perSecond'),
    server: of('server'),
    postgres: of('postgres'),
    megabytes: of('megabytes'),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
}

/** Starts a contender on a new database. */
async function start(server: TestPostgres, contender: Contender) {
  const { program, kind, smallIds = false, database = 'postgres', followers = 0 } = contender;
  const databaseUrl = database === 'postgres' ? await createDatabase(server.url) : '';
  // The peers create no tables. They have small ids, so the store of this checkout creates the tables then.
  if (databaseUrl && smallIds) await (await openPlantStore({ databaseUrl })).close();
  const env = { PLANT_STORE_TOKEN: accessToken, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
  const started = await startServer(program, env);
  const prepare = kind.creates === 0 ? [storePlants, 'vacuum analyze plants'] : [];
  // After this checkpoint, no checkpoint of earlier writes slows the measurement down.
  if (databaseUrl) await runSql(databaseUrl, ...prepare, 'checkpoint');
  const streams = await Promise.all(Array.from({ length: followers }, () => follow(started.url)));
  const load = loadOf(started.url, kind, smallIds);
  const total = { responses: 0, errors: 0 };

  async function send(seconds: number) {
    const { responses, errors, seconds: duration } = await load(seconds);
    total.responses += responses;
    total.errors += errors;
    return { responses, duration };
  }
  const usage = () => Promise.all([started.pid, server.process.pid ?? Number.NaN].map(usageOf));

  return {
    send,
    async measure(seconds: number): Promise<Figures> {
      const before = await usage();
      const { responses, duration } = await send(seconds);
      const after = await usage();
      const [ofServer = Number.NaN, ofPostgres = Number.NaN] = after.map(
        ({ cpu }, i) => ((cpu - (before[i]?.cpu ?? 0)) * 1e6) / responses,
      );
      return {
        perSecond: responses / duration,
        server: ofServer,
        postgres: databaseUrl ? ofPostgres : 0,
        megabytes: (after[0]?.memory ?? Number.NaN) / 2 ** 20,
      };
    },
    /** Stops the server. Returns the faults: error responses, and acknowledged plants that are not stored. */
    async stop(): Promise<string[]> {
      for (const stream of streams) stream.destroy();
      await started.stop();
      const faults = total.errors > 0 ? [`${total.errors} error responses`] : [];
      if (!databaseUrl) return faults;
      const sql = postgres(databaseUrl, { max: 1 });
      const [row] = await sql`select count(*)::int from plants`;
      await sql.end();
      const lost = total.responses * kind.creates - row?.['count'];
      if (lost > 0) faults.push(`${lost} acknowledged plants are not in the table`);
      await runSql(server.url, `drop database ${new URL(databaseUrl).pathname.slice(1)}`);
      return faults;
    },
  };
}

/** Follows the feed of changes, without parsing the events. Resolves when the server has sent the headers. */
async function follow(url: string) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const headers = [`Host: ${host}`, `Authorization: Bearer ${accessToken}`];
  const lines = ['GET /plants/changes HTTP/1.1', ...headers, 'Accept: text/event-stream'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  if (!head.includes('200 OK')) throw new Error(`a follower got ${head.toString().slice(0, 200)}`);
  return socket.resume();
}
