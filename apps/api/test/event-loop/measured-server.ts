import { openPlantStore } from '@plant-store/core';
import { acceptJwts } from '../../src/auth/jwt.ts';
import { createSignIn } from '../../src/auth/sign-in.ts';
import { acceptStaticTokens } from '../../src/auth/static-tokens.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { buildMetricsServer } from '../../src/process/metrics-server.ts';
import { buildServer } from '../../src/server.ts';

/** Measurements of the server since the last report. */
export interface Measurement {
  /** The CPU time of the longest turn of the event loop, in milliseconds. */
  longestTurn: number;
  /** The CPU time that the parser takes for 1 MiB of harmless JSON, in milliseconds. */
  harmless: number;
  /** The number of characters in the longest log line. */
  longestLine: number;
}

export interface Addresses {
  url: string;
  metricsUrl: string;
}

// This process runs nothing except the server, because other work would change the measured CPU time.
const [databaseUrl = '', issuer = '', audience = '', jwksUrl = ''] = process.argv.slice(2);
const store = await openPlantStore({ databaseUrl });
const metrics = createMetrics(store);
let longestLine = 0;
const server = await buildServer({
  store,
  authenticate: acceptStaticTokens(
    [{ name: 'tester', token: 'test-token' }],
    acceptJwts({ issuer, audience, jwksUrl }, store.accessTokens.authenticate),
  ),
  signIn: createSignIn('test-token'),
  metrics,
  corsOrigins: ['https://app.example.com'],
  trustProxy: ['127.0.0.1'],
  logLevel: 'trace',
  requestTimeout: 1_000,
  logStream: {
    write(line) {
      longestLine = Math.max(longestLine, line.length);
    },
  },
});
const metricsServer = buildMetricsServer(async () => [await metrics.values()], server.log);
const addresses: Addresses = {
  url: await server.listen({ host: '127.0.0.1', port: 0 }),
  metricsUrl: await metricsServer.listen({ host: '127.0.0.1', port: 0 }),
};

let longestTurn = 0;
let isMeasuring = false;
let last = process.threadCpuUsage();
const harmlessJson = JSON.stringify(
  Array.from({ length: 31_000 }, (_, id) => ({ id, name: 'a plant' })),
);
/** The parser runs several times, because some systems count CPU time in steps of 4 ms. */
const parses = 5;

/** Returns the CPU time since `last`, in milliseconds. */
function elapsed(): number {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  return (user + system) / 1000;
}

function turn(): void {
  longestTurn = Math.max(longestTurn, elapsed());
  if (isMeasuring) setImmediate(turn);
}

process.on('message', (message) => {
  isMeasuring = message === 'start';
  if (isMeasuring) {
    longestTurn = 0;
    longestLine = 0;
    last = process.threadCpuUsage();
    setImmediate(turn);
  } else {
    turn();
    for (let i = 0; i < parses; i++) JSON.parse(harmlessJson);
    const harmless = elapsed() / parses;
    process.send?.({ longestTurn, harmless, longestLine } satisfies Measurement);
  }
});
process.on('disconnect', () => process.exit());
process.send?.(addresses);
