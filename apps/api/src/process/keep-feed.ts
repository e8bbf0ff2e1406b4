import { explainDatabaseError } from '@plant-store/core/operator';
import type { FastifyInstance } from 'fastify';

const hour = 60 * 60_000;

/** Milliseconds between two reads of the feed's state. */
const watchInterval = 15_000;

/**
 * Reads the state of the feed at intervals, even when no client waits for changes. Forgets old deletions at
 * the start, and then every hour. Several instances may forget the same deletions at the same time.
 */
export function keepFeed(server: FastifyInstance, days: number): void {
  const { store } = server;
  // `watch` ignores its errors: the requests of clients get the same errors, and the server logs these.
  const watch = () => store.watchFeed().catch(() => {});
  const forget = () =>
    store.forgetDeletions(days).catch((error) => {
      if (server.isClosing) return;
      server.log.warn(`the feed still has old deletions: ${explainDatabaseError(error)}`);
    });
  void watch();
  void forget();
  const timers = [setInterval(watch, watchInterval).unref(), setInterval(forget, hour).unref()];
  server.server.once('close', () => timers.forEach(clearInterval));
}
