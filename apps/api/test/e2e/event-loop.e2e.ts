import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type HostileRequest, hostileRequests } from '../fixtures/hostile-requests.ts';
import { jwtSettings } from '../fixtures/identity-provider.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { token } from '../fixtures/server.ts';

/** The longest time that one request may block the event loop, in milliseconds of CPU time. */
const limit = 50;

/** On a slow machine, the limit is this multiple of the CPU time for 1 MiB of harmless JSON. */
const factor = 25;

/** Other work of the machine can only add CPU time, so the shortest of several tries counts. */
const tries = 5;

const program = fileURLToPath(new URL('../../bin/server.js', import.meta.url));
const measureTurns = new URL('../fixtures/measure-turns.ts', import.meta.url).href;
let server: ReturnType<typeof fork>;
let url = '';
let longestLine = 0;

beforeAll(async () => {
  server = fork(program, [], {
    execArgv: ['--import', measureTurns],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATABASE_URL: await createDatabase(inject('postgresUrl')),
      PLANT_STORE_TOKEN: token,
      PLANT_STORE_CORS_ORIGINS: 'https://app.example.com',
      PLANT_STORE_TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'trace',
      ...jwtSettings({ jwksUrl: 'http://127.0.0.1:1/keys' }),
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  let lineLength = 0;
  await new Promise<void>((resolve) => {
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (!url) output += text;
      for (const [i, part] of text.split('\n').entries()) {
        lineLength = i === 0 ? lineLength + part.length : part.length;
        longestLine = Math.max(longestLine, lineLength);
      }
      [, url = ''] = /REST +(http:\S+)\/plants/.exec(output) ?? [];
      if (url) resolve();
    });
  });
});

afterAll(() => void server.kill());

it.each(Object.entries(hostileRequests))(
  'a request with %s blocks the event loop for at most 50 ms',
  async (_, requests) => {
    const tooLong: string[] = [];
    for (const request of requests) {
      let least = await measure(request);
      for (let i = 1; i < tries && least.longest > limit; i++) {
        const again = await measure(request);
        if (again.longest < least.longest) least = again;
      }
      if (least.longest > Math.max(limit, factor * least.harmless)) {
        tooLong.push(`${request.name}: ${least.longest} ms`);
      }
    }
    expect(tooLong).toEqual([]);
  },
);

it('no hostile request has caused a long line of the log', () => {
  expect(longestLine).toBeLessThan(4_096);
});

async function measure({ bytes }: HostileRequest) {
  server.send('start');
  await sendRaw(url, bytes);
  server.send('stop');
  const [measurement]: { longest: number; harmless: number }[] = await once(server, 'message');
  if (!measurement) throw new Error('the server has measured nothing');
  return measurement;
}
