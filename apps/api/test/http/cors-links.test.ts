import type { AppRouter } from '@plant-store/core/router';
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client';
import superjson from 'superjson';
import { expect, it } from 'vitest';
import { shareServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

const origin = 'https://app.example.com';
const server = shareServer({ corsOrigins: [origin], rateLimit: 50 });

const list = (headers: Headers, name: string) =>
  (headers.get(name) ?? '').toLowerCase().split(', ');

/** A browser sends these headers to another origin without a preflight. */
const safelisted = ['accept', 'accept-language', 'content-language'];

it.each([
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
  ['httpBatchStreamLink', httpBatchStreamLink],
])('allows a page of another origin to send every header that %s uses', async (_name, link) => {
  const sent = new Set<string>();
  const client = createTRPCClient<AppRouter>({
    links: [
      link({
        url: `${server.url}/trpc`,
        transformer: superjson,
        headers: { authorization: `Bearer ${server.token}`, 'x-trpc-source': 'a-page' },
        fetch(url, init) {
          const { signal, ...rest } = init ?? {};
          // tRPC's type for `fetch` has fewer options than the platform's type.
          const request = new Request(String(url), rest as RequestInit);
          for (const name of request.headers.keys()) sent.add(name);
          request.headers.set('origin', origin);
          return fetch(request);
        },
      }),
    ],
  });
  expect(await client.createPlant.mutate({ id: 1n, name: 'x' })).toEqual({ name: 'x' });

  const { headers } = await fetch(`${server.url}/trpc/createPlant`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': [...sent].toSorted().join(),
    },
  });
  const allowed = list(headers, 'access-control-allow-headers');
  expect([...allowed, ...safelisted]).toEqual(expect.arrayContaining([...sent]));
});

it('allows a page of another origin to read the headers of every response', async () => {
  const rateLimit = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const plant = '{"id":2,"name":"x"}';
  const ask = (headers = {}) => post(server, '/plants', plant, { origin, ...headers });
  const success = await ask();
  const error = await ask({ authorization: '' });
  let limited = error;
  while (limited.status !== 429) limited = await ask();

  const expected: [Response, string[]][] = [
    [success, [...rateLimit, 'x-request-id']],
    [error, [...rateLimit, 'x-request-id', 'www-authenticate']],
    [limited, [...rateLimit, 'x-request-id', 'retry-after']],
  ];
  for (const [{ headers }, names] of expected) {
    expect([...headers.keys()]).toEqual(expect.arrayContaining(names));
    expect(list(headers, 'access-control-expose-headers')).toEqual(expect.arrayContaining(names));
  }
});
