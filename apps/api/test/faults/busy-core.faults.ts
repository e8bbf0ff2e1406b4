import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { percentile99 } from './connections.ts';
import { type OpenLoad, runOpenLoad } from './open-load.ts';
import { hang, startDatabase } from './store-under-load.ts';

/** Seconds of each load. */
const seconds = 8;

/** The CPU cores of the server and of the load generator. */
const [serverCore, loadCore] = [0, 1];

const canPin = process.platform === 'linux' && availableParallelism() > 1;

it.runIf(canPin)(
  'on one core, still creates plants at two and five times the load that the core can handle',
  async () => {
    const { url: DATABASE_URL } = await startDatabase();
    const onCore = `exec taskset -c ${serverCore} "$@"`;
    const { url, token } = await serve({ DATABASE_URL, LOG_LEVEL: 'fatal' }, onCore);
    let firstId = 1;
    const run = async (load: Pick<OpenLoad, 'rate' | 'connections'>) => {
      const result = await runOpenLoad({ ...load, url, token, seconds, firstId }, loadCore);
      firstId += 10_000_000;
      const { 200: created = 0, '503 50301': rejected = 0, ...others } = result.outcomes;
      return { ...result, created: created / seconds, rejected: rejected / seconds, others };
    };

    await run({ rate: 2_000, connections: 50 }); // During this load, Node compiles the hot code.
    const { created: best } = await run({ rate: 50_000, connections: 50 });
    for (const [factor, connections] of [2, 5].flatMap((each) => [
      [each, 500] as const,
      [each, 5_000] as const,
    ])) {
      const result = await run({ rate: Math.round(factor * best), connections });
      const { created, rejected, others, withoutRetryAfter, fromSent, fromDue, livez } = result;
      console.log(
        `${factor} times ${best.toFixed(0)} creates a second, ${connections} ` +
          `connections: ${(created / best).toFixed(2)} of it created, ${rejected.toFixed(0)} a second ` +
          `rejected; p99 in ms: 200 ${percentile99(fromSent)} (${percentile99(fromDue)} with the ` +
          `wait for a connection), /livez ${percentile99(livez)}; ${JSON.stringify(others)}`,
      );
      expect(Object.keys(others).filter((outcome) => outcome !== '503 50300')).toEqual([]);
      expect(withoutRetryAfter).toBe(0);
      expect(percentile99(fromSent)).toBeLessThan(hang);
      expect(percentile99(livez)).toBeLessThan(hang);
      // On a busy machine, even the best result varies.
      expect(created).toBeGreaterThan(best / 10);
    }
  },
);
