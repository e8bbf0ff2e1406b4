import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lateWrite } from '../../core/src/database/database-error.ts';
import { deadlineIn } from '../../core/src/database/deadline.ts';
import type { PlantStatements } from '../../core/src/plants/statements.ts';
import { NodeHealth } from '../src/lanes/node-health.ts';

describe('the health of a node whose disk is full', () => {
  const open = () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    /** The SQLSTATE and the message of the error that inserts throw. */
    const failure: { now: string | undefined; message: string } = {
      now: '53100',
      message: 'not inserted',
    };
    const changes: boolean[] = [];
    const insert = async () => {
      if (failure.now) throw Object.assign(new Error(failure.message), { code: failure.now });
      return new Set<bigint>();
    };
    // A probe writes nothing, so it succeeds even on a full disk.
    const write = vi.fn(async () => ({ rows: [], count: 0 }));
    const health: NodeHealth = new NodeHealth({
      access: { write, directError: undefined },
      onChange: () => changes.push(health.isWritable),
      onReroute: () => {},
    });
    // The cast is safe, because `observed` wraps only the inserts.
    const statements = health.observed({ insert } as unknown as PlantStatements);
    return {
      changes,
      failure,
      write,
      insert: () => statements.insert([], deadlineIn(60_000)).catch(() => {}),
      probe: () => health.probe(7n),
      wait: (milliseconds: number) => vi.advanceTimersByTime(milliseconds),
    };
  };

  it('regards a node with a full disk as not writable even when the probes succeed', async () => {
    const { changes, insert, probe, wait } = open();
    for (let i = 0; i < 20; i++) {
      await insert();
      await probe();
      wait(1_000);
    }
    expect(changes).toEqual([false]);
  });

  it.each([
    ['the database rejected because of an invalid plant', { now: '22021' }],
    ['reached the database too late', { now: '22P02', message: lateWrite }],
  ])('takes the state of a node from probes after an insert that %s', async (_, reason) => {
    const { changes, insert, probe, failure, write } = open();
    Object.assign(failure, reason);
    await insert();
    write.mockRejectedValueOnce(new Error('no response'));
    await probe();
    await probe();
    expect(changes).toEqual([false, true]);
  });

  it('regards a node as writable after a probe when no insert has failed for ten seconds', async () => {
    const { changes, insert, probe, wait } = open();
    await insert();
    wait(9_000);
    await probe();
    expect(changes).toEqual([false]);
    wait(1_000);
    await probe();
    expect(changes).toEqual([false, true]);
  });
});
