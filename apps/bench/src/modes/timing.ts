import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { median } from '../measurements/summary.ts';
import { startServer } from '../processes/start-server.ts';
import { formatTable } from '../report/format-table.ts';
import { atMost } from '../report/goals.ts';
import type { Report } from '../report/report.ts';

/** The environment's access token, and two guesses of the same length. */
const token = 'plant_0123456789abcdefghijklmnopqrstuvwxyz';
const guesses = { near: `${token.slice(0, -1)}Z`, far: `X${'-'.repeat(token.length - 1)}` };

/**
 * Compares how long the server takes to reject a guess that is wrong only in its last character, and
 * one that is wrong in every character. Times that differ would tell an attacker how much of a guess
 * is right.
 *
 * The test is the one of dudect (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?"):
 * the guesses come in a random order, the slowest times are left out, and Welch's t-test compares the
 * rest. A |t| above 10 means a leak.
 */
export async function timing({ database }: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const env = { DATABASE_URL: database.url, PLANT_STORE_TOKEN: token, LOG_LEVEL: 'error' };
  const server = await startServer(oursRest.server.program, env);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: Record<Guess, number[]> = { near: [], far: [] };
  try {
    const rounds = quick ? 10_000 : 100_000;
    for (let round = -1_000; round < rounds; round++) {
      const guess = Math.random() < 0.5 ? 'near' : 'far';
      const microseconds = await timeOfRejection(`${server.url}/plants/1`, guesses[guess], agent);
      if (round >= 0) times[guess].push(microseconds); // The first ones warm the server up.
    }
  } finally {
    agent.destroy();
    await server.stop();
  }
  const t = Math.abs(welchT(...withoutSlowest(times.near, times.far)));
  const rows = Object.entries(times).map(([guess, each]) => [
    `a guess that is wrong in ${guess === 'near' ? 'its last character' : 'every character'}`,
    String(each.length),
    (median(each) ?? 0).toFixed(1),
  ]);
  return {
    text: formatTable(['', 'requests', 'median µs'], rows),
    goals: [atMost(10, '|t| of the times to reject the two guesses', t)],
    faults: [],
    measured: { t, requests: times.near.length + times.far.length },
  };
}

type Guess = keyof typeof guesses;

async function timeOfRejection(url: string, guess: string, agent: Agent): Promise<number> {
  const sentAt = performance.now();
  const sent = request(url, { agent, headers: { authorization: `Bearer ${guess}` } }).end();
  const [response] = await once(sent, 'response');
  const time = performance.now() - sentAt;
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 401) throw new Error(`a guess was answered ${response.statusCode}`);
  return time * 1000;
}

/** Leaves out the slowest tenth of all times: they say more about the machine than about the server. */
export function withoutSlowest(a: readonly number[], b: readonly number[]): [number[], number[]] {
  const sorted = [...a, ...b].toSorted((x, y) => x - y);
  const limit = sorted[Math.floor(0.9 * sorted.length)] ?? Number.POSITIVE_INFINITY;
  return [a.filter((time) => time < limit), b.filter((time) => time < limit)];
}

/** The t of Welch's t-test for the means of two samples, each with two values at least. */
export function welchT(a: readonly number[], b: readonly number[]): number {
  const [first, second] = [momentsOf(a), momentsOf(b)];
  const error = Math.sqrt(first.variance / a.length + second.variance / b.length);
  return (first.mean - second.mean) / error;
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}
