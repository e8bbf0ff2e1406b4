import { PlantStoreError } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

const minute = 60_000;

/** Addresses that are counted in a minute, so that a flood from many does not fill the memory. */
const maxAddresses = 100_000;

/**
 * Refuses requests from an address that has failed to authenticate too often within a minute,
 * before their tokens are looked at. Requests that succeed cost nothing towards it.
 */
export function limitFailures(scope: FastifyInstance, max: number): void {
  const failures = new Map<string, number>();
  let end = 0;

  scope.addHook('onRequest', async ({ ip }, reply) => {
    if ((failures.get(ip) ?? 0) < max) return;
    const seconds = Math.ceil((end - performance.now()) / 1000);
    if (seconds <= 0) return;
    reply.header('retry-after', seconds);
    throw new PlantStoreError(
      'rateLimited',
      `over ${max} requests without a valid access token in a minute: try again in ${seconds} seconds`,
    );
  });

  scope.addHook('onError', async ({ ip }, _reply, error: Error) => {
    if (!(error instanceof PlantStoreError) || error.status !== 401) return;
    if (performance.now() >= end || failures.size >= maxAddresses) {
      failures.clear();
      end = performance.now() + minute;
    }
    failures.set(ip, (failures.get(ip) ?? 0) + 1);
  });
}
