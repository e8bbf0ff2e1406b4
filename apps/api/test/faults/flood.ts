import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What came of a flood of creates. */
export interface Flood {
  /** The ids that were answered with 200. */
  readonly created: number[];
  /** Milliseconds that each of these answers took. */
  readonly times: number[];
  /** How many answers there were, by status and number of the error: `200`, `503 50301`. */
  readonly answers: Record<string, number>;
  /** Resolves when the last answers are there. */
  stop(): Promise<void>;
}

/** Creates plants on so many connections, on each the next as soon as the last is answered. */
export async function startFlood(
  target: { url: string; token: string },
  connections: number,
): Promise<Flood> {
  const created: number[] = [];
  const times: number[] = [];
  const answers: Record<string, number> = {};
  let lastId = 0;
  let isStopped = false;

  const head =
    `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.token}\r\n` +
    'Content-Type: application/json\r\n';
  const sendOn = (socket: Socket, ended: () => void) => {
    let id = 0;
    let sentAt = 0;
    let reply = '';
    const next = () => {
      if (isStopped) return void socket.end(ended);
      id = ++lastId;
      sentAt = performance.now();
      const json = JSON.stringify({ id, name: nameOf(id) });
      socket.write(`${head}Content-Length: ${json.length}\r\n\r\n${json}`);
    };
    socket.setEncoding('latin1').on('data', (chunk) => {
      reply += chunk;
      if (!reply.endsWith('}')) return;
      const [, status = '', error = ''] =
        /^HTTP\/1\.1 (\d+).*?(?:"error":(\d+)|$)/s.exec(reply) ?? [];
      const answer = `${status} ${error}`.trim();
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (status === '200') {
        created.push(id);
        times.push(performance.now() - sentAt);
      }
      reply = '';
      next();
    });
    next();
  };

  const { hostname, port } = new URL(target.url);
  const sockets: Socket[] = [];
  // One after another: the machine lets only so many knock at once, and others wait for seconds.
  while (sockets.length < connections) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  const all = Promise.all(
    sockets.map((socket) => new Promise<void>((ended) => sendOn(socket, ended))),
  );
  return {
    created,
    times,
    answers,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}

/** The name under which a flood creates the plant of an id. */
export const nameOf = (id: number) => `plant ${id}`;
