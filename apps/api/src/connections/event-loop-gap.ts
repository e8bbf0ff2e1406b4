import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from 'fastify';

/** A gap is a pause of the event loop that lasts at least this number of milliseconds. */
const minGap = 1_000;

/** Milliseconds between two readings of the clocks. A late reading shows that there was a gap. */
const lookInterval = 250;

/** The server needs at most these milliseconds to read the requests that have arrived during a gap. */
const aftermath = 10_000;

/**
 * Makes a hook for requests that arrived while the process or the virtual machine was paused. The hook drops
 * a request when its client has disconnected, because the client may have sent the request to another
 * instance. Node reads the request before it notices the disconnection, so the hook first waits for a few
 * turns of the event loop.
 *
 * @param elapsed a clock that never goes back. The clock may stand still in a paused virtual machine
 */
export function dropGoneAfterGap(
  server: FastifyInstance,
  { elapsed = () => performance.now(), now = () => Date.now() } = {},
): preValidationHookHandler {
  let lastLook = { elapsed: elapsed(), now: now() };
  let aftermathEnd = Number.NEGATIVE_INFINITY;
  const timer = setInterval(isAfterGap, lookInterval).unref();
  server.addHook('onClose', async () => clearInterval(timer));

  return (request, _reply, done) => {
    if (isAfterGap()) void waitForEnd(request, done);
    else done();
  };

  function isAfterGap(): boolean {
    const look = { elapsed: elapsed(), now: now() };
    const gap = Math.max(look.elapsed - lastLook.elapsed, look.now - lastLook.now);
    if (gap >= minGap) aftermathEnd = look.elapsed + aftermath;
    lastLook = look;
    return look.elapsed < aftermathEnd;
  }

  async function waitForEnd(request: FastifyRequest, done: () => void): Promise<void> {
    await readArrived();
    if (request.isGone) request.server.memory.release(request);
    else done();
  }
}

/**
 * Resolves when Node has read all bytes that have arrived on open connections. Node reads the bytes of a
 * connection in one turn of the event loop, and the end of the connection in the next turn. The function
 * waits for three turns, to be safe.
 */
export async function readArrived(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}
