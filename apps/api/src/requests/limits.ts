import type { Server, ServerResponse } from 'node:http';
import { PlantStoreError } from '@plant-store/core';
import type { FastifyHttpOptions, FastifyInstance, onRequestHookHandler } from 'fastify';

/** The maximum number of bytes in a request body. */
const bodyLimit = 2 ** 20;

/** The maximum number of open connections. Node closes further connections immediately. */
const maxConnections = 4_096;

/** The maximum number of connections that wait until Node accepts them. Node's default, 511, delays a burst of clients. */
export const backlog = 4_096;

/** Milliseconds within which a client must send a whole request. */
const requestTimeout = 30_000;

/** The limits that Fastify and Node enforce. */
export const serverLimits = {
  bodyLimit,
  requestTimeout,
  // Node closes a connection after this time without activity. The request timeout is shorter, so that the
  // client of an incomplete request first gets an error.
  connectionTimeout: requestTimeout + 5_000,
  // Node limits the path and the headers to 16 KiB, so Fastify never responds 404 to a long path parameter.
  routerOptions: { maxParamLength: 2 ** 14 },
  http: {
    headersTimeout: requestTimeout,
    // Node's default is 30 s: a timeout could come 30 s late.
    connectionsCheckingInterval: 1_000,
    // A hook requires `Host`, because Node's own error response has no body.
    requireHostHeader: false,
    // By default, Node keeps one of two `Authorization` headers. This option joins the two to an invalid header.
    joinDuplicateHeaders: true,
  },
} satisfies FastifyHttpOptions<Server>;

/** Limits open connections, because each connection needs memory and a file descriptor. */
export function limitConnections({ server, logError }: FastifyInstance): void {
  server.maxConnections = maxConnections;
  const message = `a connection was closed: ${maxConnections} are open`;
  server.on('drop', () => logError(new PlantStoreError('overloaded', message)));
}

/** Whether a body or a response is large. Small texts need so little memory that no budget counts them. */
export function isLarge(bytes: number): boolean {
  return bytes > 2 ** 14;
}

/** A budget of a fixed size, which all requests of a server share. */
export class Budget {
  readonly #size: number;
  readonly #message: string;
  #held = 0;

  constructor(size: number, message: string) {
    this.#size = size;
    this.#message = message;
  }

  /**
   * Takes an amount from the budget until the caller gives the amount back with `give`.
   *
   * @throws PlantStoreError `overloaded`
   */
  take(amount: number): void {
    if (this.#held + amount > this.#size) throw new PlantStoreError('overloaded', this.#message);
    this.#held += amount;
  }

  give(amount: number): void {
    this.#held -= amount;
  }

  /** Takes an amount until a response has ended. With `isForced`, the amount may exceed the rest of the budget. */
  takeFor(response: ServerResponse, amount: number, isForced = false): void {
    if (response.destroyed) return; // No event `close` follows.
    if (isForced) this.#held += amount;
    else this.take(amount);
    response.once('close', () => this.give(amount));
  }
}

/** With these three budgets, requests of one kind cannot use up the memory that other kinds need. */
export function createBudgets() {
  return {
    bodies: new Budget(
      16 * 2 ** 20,
      'the bodies of other requests fill the memory: nothing was written, send the request again later',
    ),
    responses: new Budget(
      32 * 2 ** 20,
      'responses that other clients have not read yet fill the memory: send the request again later',
    ),
    /** Counts streams of events and requests that wait for a change. */
    streams: new Budget(1_000, '1000 requests wait for changes already: try again later'),
  };
}

/** The length of a chunked body is unknown in advance, so the body counts as a quarter of the limit. */
const chunkedBody = bodyLimit / 4;

/** A hook that takes the size of a large body from the budget, before the server reads the body. */
export const reserveBody: onRequestHookHandler = ({ headers, server }, { raw }, done) => {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const bytes = isChunked ? chunkedBody : Math.min(Number(headers['content-length']), bodyLimit);
  if (isLarge(bytes)) server.budgets.bodies.takeFor(raw, bytes);
  done();
};

/** In milliseconds. After a pause of more than `longestPause`, the server rejects writes for `aftermath`. */
const [longestPause, aftermath] = [2_000, 1_000];

/**
 * Makes a hook that rejects requests for a second after a pause of the process or its machine, except GET and
 * HEAD. Clients may already have sent the rejected requests to another instance.
 */
export function rejectAfterPause(server: FastifyInstance): onRequestHookHandler {
  let lastLook = Date.now();
  let until = 0;
  const timer = setInterval(look, 250).unref();
  server.addHook('onClose', async () => clearInterval(timer));

  return ({ method }, _reply, done) => {
    if (method === 'GET' || method === 'HEAD') return done();
    if (look() >= until) return done();
    const message = 'the server was paused: nothing was written, send the request again';
    throw new PlantStoreError('overloaded', message);
  };

  function look(): number {
    const now = Date.now();
    if (now - lastLook > longestPause) until = now + aftermath;
    lastLook = now;
    return now;
  }
}
