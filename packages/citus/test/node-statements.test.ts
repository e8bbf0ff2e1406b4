import { expect, it } from 'vitest';
import { deadlineIn } from '../../core/src/database/deadline.ts';
import type { Run } from '../../core/src/database/verbs.ts';
import { createNodeStatements } from '../src/lanes/node-statements.ts';
import type { ShardMap } from '../src/shards/shard-map.ts';

const map: ShardMap = { clusterId: '', nodes: [], shardOf: () => ({ id: '102008', node: 1 }) };

const databaseError = (code: string, message: string) =>
  Object.assign(new Error(message), { code });

/** Makes statements for a node whose functions throw the error. Ordinary statements succeed. */
function statementsAfter(error: Error) {
  const sent: string[] = [];
  let refreshed = 0;
  const run: Run = async (text) => {
    sent.push(text);
    if (text.includes('plant_store_')) throw error;
    return { rows: [['1']], count: 1 };
  };
  const shards = {
    current: map,
    async refresh() {
      refreshed++;
    },
  };
  const statements = createNodeStatements({ read: run, write: run, isDirect: true }, shards);
  return { statements, sent, refreshed: () => refreshed };
}

it.each([
  databaseError('PS001', 'another node stores these plants'),
  databaseError('42883', 'function plant_store_insert does not exist'),
  databaseError('42501', 'permission denied for function plant_store_insert'),
  databaseError('XX000', 'could not find valid entry for shard 102008'),
])(
  'sends ordinary statements for moved plants, and reads the shards again: $message',
  async (error) => {
    const { statements, sent, refreshed } = statementsAfter(error);
    const inserted = await statements.insert(
      [{ id: 1n, name: 'Hoya carnosa' }],
      deadlineIn(60_000),
    );
    expect(inserted).toEqual(new Set([1n]));
    expect(await statements.delete(1n, { deadline: deadlineIn(60_000) })).toBe(true);
    expect(sent.filter((text) => !text.includes('plant_store_'))).toHaveLength(2);
    expect(refreshed()).toBe(2);
  },
);

it.each([
  databaseError('XX000', 'failure on connection marked as essential'),
  databaseError('53100', 'the disk is full'),
  new Error('no response'),
])('does not repeat a write that may be committed: $message', async (error) => {
  const { statements, sent, refreshed } = statementsAfter(error);
  await expect(
    statements.insert([{ id: 1n, name: 'Hoya carnosa' }], deadlineIn(60_000)),
  ).rejects.toBe(error);
  expect(sent).toHaveLength(1);
  expect(refreshed()).toBe(0);
});
