import { setTimeout } from 'node:timers/promises';
import { hasSlowFlush, makeSlowFlush } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openStore, startOwnCluster } from '../fixtures/distributed-database.ts';

it.runIf(hasSlowFlush)(
  'a Citus node with a slow disk does not delay creates on another node',
  async () => {
    const disk = makeSlowFlush();
    const { url } = await startOwnCluster({ lastWorkerEnv: disk.env, settings: {} });
    const store = await openStore(url);
    await store.ready();
    await vi.waitFor(() => expect(store.nodes()).toHaveLength(2));
    let lastId = 0n;
    const create = async () => {
      const id = ++lastId;
      const sentAt = performance.now();
      const outcome = await store.create({ id, name: 'x' }).then(
        () => 'stored',
        () => 'rejected',
      );
      return { outcome, milliseconds: performance.now() - sentAt };
    };
    await Promise.all(Array.from({ length: 50 }, create));

    disk.set(2_000);
    onTestFinished(() => disk.cut());
    const creates: ReturnType<typeof create>[] = [];
    for (let i = 0; i < 200; i++) {
      creates.push(create());
      await setTimeout(25);
    }
    const results = await Promise.all(creates);
    const delayed = results.filter(({ milliseconds }) => milliseconds > 1_000);
    // Each of the two nodes has about half of the plants.
    expect(delayed.length).toBeGreaterThan(50);
    expect(delayed.length).toBeLessThan(150);
    expect(delayed.some(({ outcome }) => outcome === 'stored')).toBe(true);
  },
);
