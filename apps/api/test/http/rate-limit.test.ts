import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { countByClient } from '../../src/requests/rate-limit.ts';
import { expectError } from '../fixtures/expect-error.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

const server = shareServer();
let limited: Awaited<ReturnType<typeof startServerOn>>;

beforeEach(async () => {
  limited = await startServerOn(server.store, { rateLimit: 2 });
});

afterEach(async () => {
  vi.useRealTimers();
  await limited.stop();
});

it.each([
  ['back', -3_600_000],
  ['forth', 3_600_000],
])(
  'counts requests for a minute, even if the wall clock is set %s by an hour',
  async (_way, shift) => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const statuses = async () => {
      const responses = [];
      for (let i = 0; i < 3; i++) responses.push(await post(limited, '/plants', plant));
      return responses.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 429]);
    vi.setSystemTime(Date.now() + shift);
    expect(await statuses()).toEqual([429, 429, 429]);
    vi.advanceTimersByTime(60_000);
    expect(await statuses()).toEqual([200, 200, 429]);
  },
);

describe.each(surfaces)('over $name', (surface) => {
  it('responds with 429 and Retry-After to a request over the rate limit, but not to health checks', async () => {
    for (const _ of [1, 2]) expect((await surface.send(limited, plant)).status).toBe(200);
    const response = await surface.send(limited, plant);
    expectError(response, 429, 42900);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await fetch(`${limited.url}/livez`)).status).toBe(200);
  });

  it('limits requests with an invalid token, too', async () => {
    const guess = () => surface.send(limited, plant, { authorization: 'Bearer guess' });
    const statuses = [await guess(), await guess(), await guess()].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 429]);
  });
});

it('counts the requests of 100,000 clients, and forgets the oldest client when a new client arrives', () => {
  const countOf = countByClient(() => ({ count: 0 }));
  const count = (client: number) => countOf(`client ${client}`).count++;
  for (let client = 0; client < 100_000; client++) count(client);
  expect(count(100_000)).toBe(0);
  expect(count(0)).toBe(0); // Client 0 is new again, and client 1 is forgotten.
  expect([count(2), count(99_999), count(1)]).toEqual([1, 1, 0]);
});
