import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { requestText } from '../fixtures/raw-request.ts';
import { count, openConnections, readResponses } from './connections.ts';
import type { OpenLoad, OpenLoadResult } from './open-load.ts';

// This program sends creates at a fixed rate, even when the server is slow. It runs in its own process, so
// that a test can give it a CPU core. The program prints its result as JSON.

const { url, token, rate, connections, seconds, firstId } = JSON.parse(
  process.argv[2] ?? '',
) as OpenLoad;
/** The pause between two requests for `/livez`, in milliseconds. */
const livezInterval = 100;

interface Client {
  socket: Socket;
  dueAt: number;
  sentAt: number;
}

const result: OpenLoadResult = {
  outcomes: {},
  withoutRetryAfter: 0,
  fromSent: [],
  fromDue: [],
  livez: [],
};
const free = (await openConnections(url, connections)).map(clientOn);
/** The number of creates that are due, and the number of creates that this process has sent. */
let due = 0;
let sent = 0;
let pending = 0;
let isOver = false;

const livez = watchLivez();
const startedAt = performance.now();
for (const end = rate * seconds; due < end; await setTimeout(1)) {
  due = Math.min(end, Math.floor(((performance.now() - startedAt) / 1000) * rate));
  while (sent < due && free.length > 0) sendNext();
}
isOver = true;
while (pending > 0) await setTimeout(10);
await livez;
process.stdout.write(JSON.stringify(result), () => process.exit());

function clientOn(socket: Socket): Client {
  const client: Client = { socket, dueAt: 0, sentAt: 0 };
  readResponses(socket, ({ outcome, hasRetryAfter }) => {
    count(result.outcomes, outcome);
    if (outcome === '200') {
      result.fromSent.push(performance.now() - client.sentAt);
      result.fromDue.push(performance.now() - client.dueAt);
    } else if (!hasRetryAfter) result.withoutRetryAfter++;
    pending--;
    free.push(client);
    if (!isOver) sendNext();
  });
  socket.on('close', () => count(result.outcomes, 'none'));
  return client;
}

/** Sends the next due create if a connection is free. */
function sendNext(): void {
  const client = sent < due ? free.shift() : undefined;
  if (!client) return;
  client.dueAt = startedAt + (sent / rate) * 1000;
  client.sentAt = performance.now();
  pending++;
  const id = firstId + sent++;
  const plant = `{"id":${id},"name":"plant ${id}"}`;
  const [path, body = ''] =
    id % 2 ? ['/plants', plant] : ['/trpc/createPlant', `{"json":${plant}}`];
  client.socket.write(requestText(`POST ${path}`, token, body));
}

async function watchLivez(): Promise<void> {
  while (!isOver) {
    const sentAt = performance.now();
    const response = await fetch(`${url}/livez`, { headers: { connection: 'close' } });
    await response.text();
    if (response.ok) result.livez.push(performance.now() - sentAt);
    await setTimeout(livezInterval);
  }
}
