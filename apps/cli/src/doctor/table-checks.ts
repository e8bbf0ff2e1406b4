import {
  type DatabaseState,
  missingGrants,
  serverNeeds,
  type TableDistribution,
} from '@plant-store/core/operator';
import { tableAdvice } from '../command-line/database-errors.ts';
import type { Finding } from './finding.ts';

/** Checks the tables, and the privileges of this user on them. */
export function tableChecks(state: DatabaseState): Finding[] {
  return [...tables(state), ...privileges(state), ...distribution(state)];
}

function tables(state: DatabaseState): Finding[] {
  const check = 'tables';
  const advice = tableAdvice(state);
  if (advice.length === 0) {
    const message = 'all tables have the columns that this version needs';
    return [{ check, level: 'ok', message }];
  }
  const level =
    state.missingMigrations > 0 && state.privileges.length === 0 ? 'warning' : 'problem';
  return advice.map(({ what, remedy }) => ({ check, level, message: `${what}: ${remedy}` }));
}

function privileges({ privileges, isReadOnly }: DatabaseState): Finding[] {
  const check = 'rights';
  const cannotRead = missingGrants(privileges, { plants: ['SELECT'] });
  if (cannotRead.length > 0) {
    const message = `this user cannot read plants: run ${cannotRead.join('; ')}`;
    return [{ check, level: 'problem', message }];
  }
  if (privileges.length === 0 || isReadOnly) return [];
  const missing = missingGrants(privileges, serverNeeds);
  if (missing.length === 0) {
    return [{ check, level: 'ok', message: 'this user may do all that the server does' }];
  }
  const message = `this user can read plants, but the server needs more: run ${missing.join('; ')}`;
  return [{ check, level: 'warning', message }];
}

function distribution({ distribution }: DatabaseState): Finding[] {
  return (distribution ?? []).flatMap(({ table, kind, column, shards }): Finding[] => {
    const check = 'distribution';
    if (table === 'access_tokens') return [{ check, ...copies(table, kind) }];
    if (table !== 'plants') return []; // A cluster has no feed of changes.
    if (kind === 'hash' && column === 'id') {
      return [{ check, level: 'ok', message: `plants is distributed by id, in ${shards} shards` }];
    }
    if (kind === 'local') {
      const message =
        'plants is on the coordinator only: run plant-store distribute to use the workers';
      return [{ check, level: 'warning', message }];
    }
    const how = kind === 'reference' ? 'copied to each node' : `distributed by ${column ?? kind}`;
    // Citus does not block inserts through other nodes meanwhile, and would lose them.
    const message =
      `plants is ${how}: stop all instances, run SELECT undistribute_table('plants'), and then ` +
      'plant-store distribute';
    return [{ check, level: 'problem', message }];
  });
}

/** The access tokens: each node of a cluster should have a copy. */
function copies(table: string, kind: TableDistribution['kind']): Omit<Finding, 'check'> {
  if (kind === 'local') return { level: 'ok', message: `${table} is on the coordinator` };
  if (kind === 'reference') return { level: 'ok', message: `each node has a copy of ${table}` };
  const message =
    `Citus splits ${table} over the nodes: run SELECT undistribute_table('${table}'), and then ` +
    'plant-store distribute';
  return { level: 'warning', message };
}
