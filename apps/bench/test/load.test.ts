import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { autocannonLoad } from '../src/autocannon-load.ts';
import { strewn } from '../src/ids.ts';
import { findLoadGenerator, type Ids } from '../src/load.ts';
import { bodyPieces, rest, trpcBatch, usualPlant, type Wire } from '../src/wire.ts';

const generators = new Map(
  [autocannonLoad, await findLoadGenerator()].map((one) => [one.name, one]),
);
const loads: [Ids['order'], Wire][] = [
  ['rising', rest],
  ['strewn', trpcBatch],
];
const cases = [...generators.values()].flatMap((generator) =>
  loads.map(([order, wire]) => ({ name: generator.name, generator, order, wire })),
);

it.concurrent.each(cases)(
  '$name sends each id once, $order, and counts the replies',
  async ({ generator, order, wire }) => {
    const ids: number[] = [];
    const requests: unknown[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const { method, url, headers } = request;
      requests.push([method, url, headers.authorization, headers['content-type']]);
      ids.push(...[...body.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)));
      JSON.parse(body);
      // Every other reply is an error, to be told apart.
      response.writeHead(requests.length % 2 ? 200 : 503).end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on a port, not on a pipe.

    const connections = 2;
    const { replies, errors, seconds, p50, p99 } = await generator.run({
      url: `http://127.0.0.1:${port}`,
      path: wire.path,
      token: 'secret',
      pieces: bodyPieces(wire, usualPlant),
      ids: { first: 1, order },
      connections,
      seconds: 1,
    });
    server.closeAllConnections();
    server.close();

    expect(new Set(requests.map((request) => JSON.stringify(request)))).toEqual(
      new Set([JSON.stringify(['POST', wire.path, 'Bearer secret', 'application/json'])]),
    );
    // What is under way when a load ends may have taken ids and not been sent.
    const taken = ids.length + connections * wire.plants;
    const given = Array.from({ length: taken }, (_, n) =>
      order === 'strewn' ? strewn(n + 1) : n + 1,
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids).isSubsetOf(new Set(given))).toBe(true);
    expect(replies).toBeGreaterThan(0);
    expect(requests.length - replies - errors).toBeGreaterThanOrEqual(0);
    expect(requests.length - replies - errors).toBeLessThanOrEqual(connections);
    expect(Math.abs(replies - errors)).toBeLessThanOrEqual(1 + connections);
    expect(seconds).toBeGreaterThan(0);
    expect(p50).toBeLessThanOrEqual(p99);
  },
);
