import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from 'fastify';

/** The shortest gap: milliseconds in which the event loop makes no turn. */
const minGap = 1_000;

/** Milliseconds between two looks at the clocks. */
const lookInterval = 250;

/** Milliseconds after a gap in which the server reads all requests that arrived during the gap. */
const aftermath = 10_000;

/**
 * Makes a hook that drops requests whose client disconnected while the process was frozen or its virtual
 * machine paused. Meanwhile, the client may have sent its request to another instance. After such a gap,
 * Node reads the request before it reads the end of the connection, so the hook lets a few turns pass.
 *
 * @param onDrop replaces the hooks of the response
 * @param elapsed a clock that only goes forward. The clock may stand still in a paused virtual machine
 */
export function dropGoneAfterGap(
  server: FastifyInstance,
  onDrop: (request: FastifyRequest) => void,
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
    if (request.isGone) onDrop(request);
    else done();
  }
}

/**
 * Resolves when Node has read what has arrived on open connections. The bytes of a connection and its end
 * take two turns of the event loop. The third turn is a reserve.
 */
export async function readArrived(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}
