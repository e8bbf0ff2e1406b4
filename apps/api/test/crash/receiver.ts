import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listen } from '@plant-store/test-setup';
import { parse } from './calls.ts';
import { type Copy, createCopy, listPlants } from './copies.ts';
import type { Server } from './world.ts';

export interface Receiver {
  readonly url: string;
  readonly copy: Copy;
  /** The servers from which the receiver lists the plants again after a reset. */
  readonly servers: Server[];
  close(): void;
}

/** The receiver processes this message, but loses the response. */
const lostMessage = 3;

/** Starts the endpoint of a webhook. The endpoint keeps a copy of the plants, as docs/webhooks.md describes. */
export async function startReceiver(): Promise<Receiver> {
  const copy = createCopy('the copy of the webhook');
  const servers: Server[] = [];
  const bodies = new Map<string, string>();

  const receive = async (id: string, body: string) => {
    const known = bodies.get(id);
    if (known !== undefined) {
      if (known !== body)
        copy.problems.push(`the webhook sent the message ${id} with another body`);
      return;
    }
    const { type, data } = parse(body);
    if (type === 'plants.changed') copy.apply(data.changes);
    else if (type === 'plants.reset') await listAgain();
    else copy.problems.push(`the webhook sent a message of the type ${type}`);
    bodies.set(id, body);
  };
  const listAgain = async () => {
    for (;;) {
      const plants = await listPlants(servers).catch(() => undefined);
      if (plants) return copy.replace(plants);
      await setTimeout(50);
    }
  };
  // The messages of an endpoint have an order, so one message is processed after another.
  let last = Promise.resolve();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined); // A killed server sends no complete body.
    if (body === undefined) return;
    last = last.then(() => receive(String(request.headers['webhook-id']), body));
    await last;
    if (bodies.size === lostMessage && !lost.has(body)) {
      lost.add(body);
      response.destroy();
    } else response.end();
  });
  const lost = new Set<string>();
  const url = await listen(server);
  return {
    url,
    copy,
    servers,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
