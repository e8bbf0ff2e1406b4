import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

/** The server that gets the plants. */
interface Target {
  url: string;
  token: string;
}

interface Plant {
  id: number;
  name: string;
  tag?: string;
}

export type AcknowledgedLoad = ReturnType<typeof startAcknowledgedLoad>;

export interface Seen {
  /** The longest time between two responses with status 200, in milliseconds. */
  longestGap: number;
  /** The plants whose requests had status 200. The store must contain each of these plants unchanged. */
  acknowledged: Plant[];
  /** The number of responses for each outcome, such as `200`, `503 50300` or `none`. */
  outcomes: Record<string, number>;
  /** The milliseconds that the slowest response took. */
  slowest: number;
  /** The number of 503 responses without `Retry-After`. */
  withoutRetryAfter: number;
}

/** The milliseconds between two requests of a client. Without a pause, the load would be too high. */
const pause = 20;

/**
 * Creates plants as reliable clients do. A client sends each plant over REST and tRPC in turn, until a
 * response has status 200. A test may change the target's URL while the load runs. An empty URL means that no
 * server runs, so the requests count as `none`.
 *
 * @param takesId returns whether the load uses an id. The load tries the ids 1, 2 and so on.
 */
export function startAcknowledgedLoad(
  target: Target,
  clients = 8,
  takesId: (id: number) => boolean = () => true,
) {
  const seen: Seen = {
    longestGap: 0,
    acknowledged: [],
    outcomes: {},
    slowest: 0,
    withoutRetryAfter: 0,
  };
  let lastAcknowledgedAt = Date.now();
  const waiting = new Set<(sentAt: number) => void>();
  let lastId = 0;
  let isStopped = false;

  const nextId = () => {
    do lastId++;
    while (!takesId(lastId));
    return lastId;
  };
  const createUntilAcknowledged = async () => {
    const id = nextId();
    const plant = { id, name: `${randomUUID()} 🪴`, ...(id % 2 && { tag: `tag ${id}` }) };
    for (let attempt = id; !isStopped; attempt++) {
      const sentAt = Date.now();
      const { outcome, retryAfter } = await send(target, plant, attempt % 2 === 0);
      seen.outcomes[outcome] = (seen.outcomes[outcome] ?? 0) + 1;
      seen.slowest = Math.max(seen.slowest, Date.now() - sentAt);
      if (outcome === '200') {
        seen.acknowledged.push(plant);
        seen.longestGap = Math.max(seen.longestGap, Date.now() - lastAcknowledgedAt);
        lastAcknowledgedAt = Date.now();
        for (const notify of waiting) notify(sentAt);
        return;
      }
      if (outcome.startsWith('503') && !retryAfter) seen.withoutRetryAfter++;
      await setTimeout(pause);
    }
  };
  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      await createUntilAcknowledged();
      await setTimeout(pause);
    }
  });

  return {
    /** The results so far. */
    seen,
    /** Waits until `plants` later requests have status 200. Resolves with the milliseconds of the wait. */
    acknowledged: (plants: number) =>
      new Promise<number>((resolve) => {
        const since = Date.now();
        let left = plants;
        waiting.add(function notify(sentAt) {
          if (sentAt < since || --left > 0) return;
          waiting.delete(notify);
          resolve(Date.now() - since);
        });
      }),
    /** Stops sending plants. Resolves when the last responses have arrived. */
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function send({ url, token }: Target, plant: Plant, isTrpc: boolean) {
  try {
    const response = await fetch(url + (isTrpc ? '/trpc/createPlant' : '/plants'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(isTrpc ? { json: plant } : plant),
    });
    const { error } = (await response.json()) as ErrorResponse;
    const code = typeof error === 'object' ? error.json.data.error : error;
    const outcome = code === undefined ? `${response.status}` : `${response.status} ${code}`;
    return { outcome, retryAfter: response.headers.get('retry-after') };
  } catch {
    return { outcome: 'none', retryAfter: null };
  }
}

/** REST sends the error code itself, and tRPC sends the code in an envelope. */
interface ErrorResponse {
  error?: number | { json: { data: { error: number } } };
}
