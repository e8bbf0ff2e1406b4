import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type IdentityProvider, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type HostileRequest, hostileRequests } from './hostile-requests.ts';
import type { Addresses, Measurement } from './measured-server.ts';

/** The longest time that one request may block the event loop, in milliseconds of CPU time. */
const limit = 50;

/** On a slow machine, the limit is this multiple of the CPU time for 1 MiB of harmless JSON. */
const factor = 25;

/**
 * If a request takes longer than the limit, the test repeats the request up to this number of times. The
 * test uses the shortest CPU time, because other work of the machine can only add CPU time.
 */
const tries = 5;

/** A log line, or the error of a call, has at most this number of characters. */
const maxText = 4_096;

describe('a hostile request', () => {
  let provider: IdentityProvider;
  let server: ReturnType<typeof fork>;
  let addresses: Addresses;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    await provider.addKey('first');
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const { issuer, audience, jwksUrl } = provider.settings;
    const program = new URL('measured-server.ts', import.meta.url);
    server = fork(program, [databaseUrl, issuer, audience, jwksUrl], { execArgv: [] });
    [addresses] = await once(server, 'message');
  });

  afterAll(async () => {
    server.kill();
    await provider.stop();
  });

  it.each(Object.entries(hostileRequests))(
    'with %s blocks the event loop for at most 50 ms, and causes no long log line or error',
    async (_, requests) => {
      const tooLong: string[] = [];
      for (const request of requests) {
        const { longestTurn, harmless, longestLine, longestError } = await leastOf(request);
        if (longestTurn > Math.max(limit, factor * harmless))
          tooLong.push(`${request.name}: ${longestTurn} ms`);
        if (longestLine > maxText) tooLong.push(`${request.name}: a log line of ${longestLine}`);
        if (longestError > maxText) tooLong.push(`${request.name}: an error of ${longestError}`);
      }
      expect(tooLong).toEqual([]);
    },
  );

  async function leastOf(request: HostileRequest) {
    let least = await measure(request);
    for (let i = 1; i < tries && least.longestTurn > limit; i++) {
      const again = await measure(request);
      if (again.longestTurn < least.longestTurn) least = again;
    }
    return least;
  }

  async function measure({ bytes, isForMetrics, calls = 1 }: HostileRequest) {
    server.send('start');
    const { responses } = await sendRaw(isForMetrics ? addresses.metricsUrl : addresses.url, bytes);
    const errors = responses.filter(({ status }) => status >= 400);
    server.send('stop');
    const [measurement]: Measurement[] = await once(server, 'message');
    const longestError = Math.max(0, ...errors.map(({ body }) => body.length / calls));
    if (!measurement) throw new Error('the server has measured nothing');
    return { ...measurement, longestError };
  }
});
