import { type DatabaseState, missingGrants, type Right } from '@plant-store/core';
import { tableAdvice } from '../command-line/table-advice.ts';
import type { Finding } from './finding.ts';

/** Checks the tables that there are, and what this user may do with them. */
export function tableChecks(state: DatabaseState): Finding[] {
  return [...tables(state), ...rights(state), ...distribution(state)];
}

function tables(state: DatabaseState): Finding[] {
  const check = 'tables';
  const advice = tableAdvice(state);
  if (advice.length === 0) {
    const message = 'plants and access_tokens have the columns that this version needs';
    return [{ check, level: 'ok', message }];
  }
  const level = state.missingMigrations > 0 && state.rights.length === 0 ? 'warning' : 'problem';
  return advice.map(({ what, remedy }) => ({ check, level, message: `${what}: ${remedy}` }));
}

/** What the server does. The command line needs fewer rights for most of its commands. */
const serverNeeds: Record<string, Right[]> = {
  plants: ['SELECT', 'INSERT', 'DELETE'],
  access_tokens: ['SELECT', 'INSERT', 'UPDATE'],
};

function rights({ rights, isReadOnly }: DatabaseState): Finding[] {
  const check = 'rights';
  const cannotRead = missingGrants(rights, { plants: ['SELECT'] });
  if (cannotRead.length > 0) {
    const message = `this user cannot read plants: run ${cannotRead.join('; ')}`;
    return [{ check, level: 'problem', message }];
  }
  if (rights.length === 0 || isReadOnly) return [];
  const missing = missingGrants(rights, serverNeeds);
  if (missing.length === 0) {
    return [{ check, level: 'ok', message: 'this user may do all that the server does' }];
  }
  const message = `this user can read plants, but the server needs more: run ${missing.join('; ')}`;
  return [{ check, level: 'warning', message }];
}

function distribution({ distribution }: DatabaseState): Finding[] {
  return (distribution ?? []).map(({ table, kind, column, shards }): Finding => {
    const check = 'distribution';
    if (table !== 'plants') {
      const message = `Citus distributes ${table}: run SELECT undistribute_table('${table}')`;
      return kind === 'local'
        ? { check, level: 'ok', message: `${table} is on the coordinator` }
        : { check, level: 'warning', message };
    }
    if (kind === 'hash' && column === 'id') {
      return { check, level: 'ok', message: `plants is distributed by id, in ${shards} shards` };
    }
    if (kind === 'local') {
      const remedy = "SELECT create_distributed_table('plants', 'id')";
      const message = `plants is on the coordinator only: run ${remedy} to use the workers`;
      return { check, level: 'warning', message };
    }
    const how = kind === 'reference' ? 'copied to each node' : `distributed by ${column ?? kind}`;
    const message =
      `plants is ${how}: run SELECT undistribute_table('plants'), and then ` +
      "SELECT create_distributed_table('plants', 'id')";
    return { check, level: 'problem', message };
  });
}
