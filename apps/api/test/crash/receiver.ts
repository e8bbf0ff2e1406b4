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

/** The number of the message whose first attempt gets 503, before the receiver processes the message. */
const rejectedMessage = 2;

/** The number of the message whose first response is lost, after the receiver has processed the message. */
const lostMessage = 4;

/** Starts the endpoint of a webhook. The endpoint keeps a copy of the plants, as docs/webhooks.md describes. */
export async function startReceiver(): Promise<Receiver> {
  const copy = createCopy('the copy of the webhook');
  const servers: Server[] = [];
  const processed = new Set<string>();
  const failed = new Set<number>();

  const receive = async (id: string, body: string): Promise<'ok' | 'rejected' | 'lost'> => {
    if (processed.has(id)) return 'ok';
    const number = processed.size + 1;
    if (number === rejectedMessage && isFirst(number)) return 'rejected';
    const { type, data } = parse(body);
    if (type === 'plants.changed') copy.apply(data.changes);
    else if (type === 'plants.reset') await listAgain();
    else copy.problems.push(`the webhook sent a message of the type ${type}`);
    processed.add(id);
    return number === lostMessage && isFirst(number) ? 'lost' : 'ok';
  };
  const isFirst = (number: number) => !failed.has(number) && Boolean(failed.add(number));
  const listAgain = async () => {
    copy.resets++;
    for (;;) {
      const plants = await listPlants(servers).catch(() => undefined);
      if (plants) return copy.replace(plants);
      await setTimeout(50);
    }
  };
  // The messages of an endpoint have an order, so the endpoint processes one message after another.
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined); // A killed server sends no complete body.
    if (body === undefined) return;
    const received = last.then(() => receive(String(request.headers['webhook-id']), body));
    last = received;
    const outcome = await received;
    if (outcome === 'lost') response.destroy();
    else response.writeHead(outcome === 'ok' ? 200 : 503).end();
  });
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
