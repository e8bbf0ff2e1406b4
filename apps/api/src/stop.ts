import { setTimeout } from 'node:timers/promises';
import type { PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

interface Running {
  server: FastifyInstance;
  store: PlantStore;
  /** Milliseconds for which requests are still taken after SIGTERM. */
  drainDelay: number;
}

/** Milliseconds in which what is under way is answered, once no more requests are taken. */
const answerDeadline = 6_000;

/** Milliseconds for the store to let go of its database. */
const storeDeadline = 1_000;

/**
 * Ends the process when it is told to, with exit code 0, and when something goes wrong that nothing
 * has caught, with 1: nobody knows what state it is in then. What is under way is answered first;
 * a second signal ends the process at once.
 */
export function endWhenTold({ server, store, drainDelay }: Running): void {
  let isEnding = false;

  const end = async (delay: number) => {
    isEnding = true;
    server.drainDelay = delay;
    // What is not answered by then was not sent by then: a client may not hold the process up.
    await Promise.race([server.close(), setTimeout(delay + answerDeadline)]);
    await Promise.race([store.close(), setTimeout(storeDeadline)]);
  };
  const fail = (thrown: unknown) => {
    const err = thrown instanceof Error ? thrown : new Error(`a ${typeof thrown} was thrown`);
    server.log.fatal({ err }, 'something went wrong that nothing caught: the process ends');
    process.exitCode = 1;
  };
  const endOnce = (delay: number) => {
    if (!isEnding)
      void end(delay)
        .catch(fail)
        .then(() => process.exit());
  };

  // Whoever sits at a terminal waits for it, and nobody looks at `/readyz`.
  for (const [signal, delay] of [
    ['SIGTERM', drainDelay],
    ['SIGINT', 0],
  ] as const) {
    process.on(signal, () => {
      if (isEnding) process.exit(1);
      endOnce(delay);
    });
  }
  // Rejections that nothing handles come here too.
  process.on('uncaughtException', (thrown) => {
    fail(thrown);
    endOnce(drainDelay);
  });
}
