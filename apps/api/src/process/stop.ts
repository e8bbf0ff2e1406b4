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
 * Ends the process at once when it is told to, with exit code 0: until `endWhenTold` it has taken no
 * request. A container's first process would not even end without it.
 */
export function endAtOnceWhenTold(): void {
  process.on('SIGINT', endAtOnce);
  process.on('SIGTERM', endAtOnce);
}

const endAtOnce = () => process.exit();

/**
 * Ends the process when it is told to, with exit code 0, and when something goes wrong that nothing
 * has caught, with 1: nobody knows what state it is in then. What is under way is answered first;
 * a second signal ends the process at once.
 */
export function endWhenTold({ server, store, drainDelay }: Running): void {
  let isEnding = false;

  // Whoever sits at a terminal waits for it, and nobody looks at `/readyz`.
  process.off('SIGINT', endAtOnce).on('SIGINT', () => told(0));
  process.off('SIGTERM', endAtOnce).on('SIGTERM', () => told(drainDelay));
  // Rejections that nothing handles come here too.
  process.on('uncaughtException', (thrown) => {
    fail(thrown);
    if (!isEnding) void end(drainDelay);
  });

  function told(delay: number): void {
    if (isEnding) process.exit(1);
    void end(delay);
  }

  async function end(delay: number): Promise<void> {
    isEnding = true;
    server.drainDelay = delay;
    try {
      // What is not answered by then was not sent by then: a client may not hold the process up.
      await Promise.race([server.close(), setTimeout(delay + answerDeadline)]);
      await Promise.race([store.close(), setTimeout(storeDeadline)]);
    } catch (error) {
      fail(error);
    }
    process.exit();
  }

  function fail(thrown: unknown): void {
    const isError = thrown instanceof Error;
    const err = isError ? thrown : new Error(`no error was thrown, but a value (${typeof thrown})`);
    server.log.fatal({ err }, 'something went wrong that nothing caught: the process ends');
    process.exitCode = 1;
  }
}
