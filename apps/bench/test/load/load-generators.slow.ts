import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { autocannonLoad } from '../../src/load/autocannon-load.ts';
import { type IdOrder, nthId } from '../../src/load/ids.ts';
import { accessToken } from '../../src/load/load.ts';
import {
  type RequestFormat,
  rest,
  restReads,
  trpcBatch,
  trpcReads,
} from '../../src/load/request-format.ts';
import { findLoadGenerator } from '../../src/load/wrk-load.ts';

const generators = new Set([autocannonLoad, await findLoadGenerator()]);
const loads: [IdOrder, RequestFormat][] = [
  ['int64', rest],
  ['int64', trpcBatch],
  ['small', rest],
  ['small', trpcBatch],
  ['stored', restReads.get],
  ['stored', trpcReads.list],
];
const cases = [...generators].flatMap((generator) =>
  loads.map(([order, format]) => ({ name: generator.name, generator, order, format })),
);

it.concurrent.each(cases)(
  '$name sends each id once in $order order and counts the responses',
  async ({ generator, order, format }) => {
    const ids: string[] = [];
    const requests: unknown[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const { method, url, headers } = request;
      const found = [...(url + body).matchAll(/(?<=id"?:"?|plants\/|after%22%3A%22)-?\d+/g)].flat();
      ids.push(...found);
      const path = method === 'GET' ? url?.replace(found[0] ?? '', '{id}') : url;
      requests.push([method, path, headers.authorization, headers['content-type']]);
      if (method === 'POST') JSON.parse(body);
      // Every second response is an error. The generator must count responses and errors separately.
      response.writeHead(requests.length % 2 ? 200 : 503).end('{}');
    });
    const connections = 2;
    const { responses, errors, seconds, p50, p99 } = await generator.run({
      url: await listen(server),
      format,
      order,
      first: 1,
      connections,
      seconds: 1,
    });
    server.closeAllConnections();
    server.close();

    const contentType = format.method === 'POST' ? 'application/json' : undefined;
    expect(new Set(requests.map((request) => JSON.stringify(request)))).toEqual(
      new Set([JSON.stringify([format.method, format.path, `Bearer ${accessToken}`, contentType])]),
    );
    // A generator may have reserved ids for requests that the generator never sent.
    const allocated = ids.length + connections * format.plants;
    const expectedIds = Array.from({ length: allocated }, (_, n) => nthId(order, n + 1));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids).isSubsetOf(new Set(expectedIds))).toBe(true);
    expect(responses).toBeGreaterThan(0);
    expect(requests.length - responses - errors).toBeGreaterThanOrEqual(0);
    expect(requests.length - responses - errors).toBeLessThanOrEqual(connections);
    expect(Math.abs(responses - errors)).toBeLessThanOrEqual(1 + connections);
    expect(seconds).toBeGreaterThan(0);
    expect(p50).toBeLessThanOrEqual(p99);
  },
);
