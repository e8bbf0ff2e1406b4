import { type DatabaseState, missingGrants, serverNeeds } from '@plant-store/core/operator';
import { tableAdvice } from '../command-line/database-errors.ts';
import type { Finding } from './finding.ts';

/** Checks the tables, and the user's privileges on the tables. */
export function tableChecks(state: DatabaseState): Finding[] {
  return [...tables(state), ...privileges(state)];
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
  const check = 'privileges';
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
