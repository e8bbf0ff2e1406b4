import type { TableDistribution } from '@plant-store/citus/operator';
import { expect, it } from 'vitest';
import { distribution } from '../../src/doctor/cluster-checks.ts';

type Kind = TableDistribution['kind'];

const plants = (kind: Kind, column: string | null = null): TableDistribution => ({
  table: 'plants',
  kind,
  column,
  shards: kind === 'local' ? 0 : 32,
});

it.each<[TableDistribution, string]>([
  [
    plants('local'),
    'warning plants is on the coordinator only: run plant-store distribute to use the workers',
  ],
  [plants('hash', 'id'), 'ok plants is distributed by id, in 32 shards'],
  [
    plants('hash', 'tag'),
    "problem plants is distributed by tag: stop all instances, run SELECT undistribute_table('plants'), and then plant-store distribute",
  ],
  [
    plants('reference'),
    "problem plants is copied to each node: stop all instances, run SELECT undistribute_table('plants'), and then plant-store distribute",
  ],
  [{ ...plants('local'), table: 'access_tokens' }, 'ok access_tokens is on the coordinator'],
  [{ ...plants('reference'), table: 'access_tokens' }, 'ok each node has a copy of access_tokens'],
  [
    { ...plants('hash', 'name'), table: 'access_tokens' },
    "warning Citus splits access_tokens over the nodes: run SELECT undistribute_table('access_tokens'), and then plant-store distribute",
  ],
])('describes the distribution %j', (table, finding) => {
  expect(distribution([table])).toEqual([
    { check: 'distribution', level: finding.split(' ')[0], message: finding.replace(/^\w+ /, '') },
  ]);
});
