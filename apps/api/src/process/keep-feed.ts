import { explainDatabaseError } from '@plant-store/core/operator';
import type { FastifyInstance } from 'fastify';

const hour = 60 * 60_000;

/** Milliseconds between two looks at the feed. */
const watchInterval = 15_000;

/**
 * Looks at the feed at intervals, even when no client follows it. Forgets old deletions at the start and then
 * each hour. Several instances may forget the same deletions at the same time.
 */
export function keepFeed(server: FastifyInstance, days: number): void {
  const { store } = server;
  // This function ignores errors, because the server logs the same errors for calls of clients.
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
