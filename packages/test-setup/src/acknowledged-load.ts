import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

interface Target {
  url: string;
  token: string;
}

interface Plant {
  id: number;
  name: string;
  tag?: string;
}

export interface AcknowledgedLoad {
  /** What has been seen so far. */
  readonly seen: Seen;
  /** Resolves with the milliseconds until so many plants sent from now on are acknowledged. */
  acknowledged(plants: number): Promise<number>;
  /** Resolves when the last answers are there. */
  stop(): Promise<void>;
}

export interface Seen {
  /** What was answered with 200: these must be stored, exactly as they were sent. */
  acknowledged: Plant[];
  /** How many answers there were, by status and number of the error: `200`, `503 50300`, `none`. */
  answers: Record<string, number>;
  /** Milliseconds that the slowest answer took. */
  slowest: number;
  /** Answers of 503 without `Retry-After`. */
  withoutRetryAfter: number;
}

/** Milliseconds between two requests of a client, so that there is a load and not an overload. */
const pause = 20;

/**
 * Adds plants over REST and tRPC in turn, as clients do that keep their promises: what is not
 * answered with 200 is sent again, on the other surface, until it is. The target's URL may change
 * meanwhile, where another server takes the place of the first; while it is empty there is none.
 */
export function startAcknowledgedLoad(target: Target, clients = 8): AcknowledgedLoad {
  const seen: Seen = { acknowledged: [], answers: {}, slowest: 0, withoutRetryAfter: 0 };
  const waiting = new Set<(sentAt: number) => void>();
  let lastId = 0;
  let isStopped = false;

  const add = async () => {
    const id = ++lastId;
    const plant = { id, name: `${randomUUID()} 🪴`, ...(id % 2 && { tag: `tag ${id}` }) };
    for (let attempt = id; !isStopped; attempt++) {
      const sentAt = Date.now();
      const { answer, retryAfter } = await send(target, plant, attempt % 2 === 0);
      seen.answers[answer] = (seen.answers[answer] ?? 0) + 1;
      seen.slowest = Math.max(seen.slowest, Date.now() - sentAt);
      if (answer === '200') {
        seen.acknowledged.push(plant);
        for (const tell of waiting) tell(sentAt);
        return;
      }
      if (answer.startsWith('503') && !retryAfter) seen.withoutRetryAfter++;
      await setTimeout(pause);
    }
  };
  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      await add();
      await setTimeout(pause);
    }
  });

  return {
    seen,
    acknowledged: (plants) =>
      new Promise((resolve) => {
        const since = Date.now();
        let left = plants;
        waiting.add(function tell(sentAt) {
          if (sentAt < since || --left > 0) return;
          waiting.delete(tell);
          resolve(Date.now() - since);
        });
      }),
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function send({ url, token }: Target, plant: Plant, isTrpc: boolean): Promise<Answer> {
  try {
    const reply = await fetch(url + (isTrpc ? '/trpc/createPlant' : '/plants'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(isTrpc ? { json: plant } : plant),
    });
    const { error } = (await reply.json()) as Reply;
    const number = typeof error === 'object' ? error.json.data.error : error;
    const answer = number === undefined ? `${reply.status}` : `${reply.status} ${number}`;
    return { answer, retryAfter: reply.headers.get('retry-after') };
  } catch {
    return { answer: 'none', retryAfter: null };
  }
}

interface Answer {
  answer: string;
  retryAfter: string | null;
}

/** REST has the error's number itself, tRPC has it in an envelope. */
interface Reply {
  error?: number | { json: { data: { error: number } } };
}
