import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { OpenLoad, OpenLoadResult } from './open-load.ts';

// Sends creates at a fixed rate, whatever the server does. It is a process of its own, so that it
// can have a core of its own. Prints its result as JSON.

const { url, token, rate, connections, seconds, firstId } = JSON.parse(
  process.argv[2] ?? '',
) as OpenLoad;
const { hostname, port } = new URL(url);
const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

/** Milliseconds between two connections for `/livez`. */
const livezInterval = 100;

interface Client {
  socket: Socket;
  dueAt: number;
  sentAt: number;
  received: string;
}

const result: OpenLoadResult = {
  outcomes: {},
  withoutRetryAfter: 0,
  fromSent: [],
  fromDue: [],
  livez: [],
};
const free: Client[] = [];
/** The number of creates that are due, and the number of creates that are sent. */
let due = 0;
let sent = 0;
let pending = 0;
let isOver = false;

for (let i = 0; i < connections; i += 250) {
  const count = Math.min(250, connections - i);
  free.push(...(await Promise.all(Array.from({ length: count }, connectClient))));
}
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

async function connectClient(): Promise<Client> {
  const socket = connect(Number(port), hostname).setNoDelay().setEncoding('latin1');
  const client: Client = { socket, dueAt: 0, sentAt: 0, received: '' };
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('data', (text: string) => receive(client, text));
  socket.on('error', () => {}).on('close', () => count('none'));
  return client;
}

/** Sends the next create that is due, when a connection is free. */
function sendNext(): void {
  const client = sent < due ? free.shift() : undefined;
  if (!client) return;
  client.dueAt = startedAt + (sent / rate) * 1000;
  client.sentAt = performance.now();
  pending++;
  const id = firstId + sent++;
  const plant = `{"id":${id},"name":"plant ${id}"}`;
  const [path, body] = id % 2 ? ['/plants', plant] : ['/trpc/createPlant', `{"json":${plant}}`];
  client.socket.write(
    `POST ${path} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

function receive(client: Client, text: string): void {
  client.received += text;
  const response = client.received;
  const headEnd = response.indexOf('\r\n\r\n') + 4;
  const length = Number(/content-length: (\d+)/i.exec(response)?.[1]);
  if (headEnd < 4 || response.length < headEnd + length) return;
  client.received = '';
  settle(client, response);
  pending--;
  free.push(client);
  if (!isOver) sendNext();
}

function settle({ dueAt, sentAt }: Client, response: string): void {
  const status = response.slice(9, 12);
  if (status === '200') {
    result.fromSent.push(performance.now() - sentAt);
    result.fromDue.push(performance.now() - dueAt);
    count(status);
    return;
  }
  count(`${status} ${/"error":(\d+)/.exec(response)?.[1]}`);
  if (!/^retry-after: \d/im.test(response)) result.withoutRetryAfter++;
}

function count(outcome: string): void {
  result.outcomes[outcome] = (result.outcomes[outcome] ?? 0) + 1;
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
