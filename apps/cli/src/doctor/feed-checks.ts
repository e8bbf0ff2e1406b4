import type { DatabaseState, OldTransaction } from '@plant-store/core/operator';
import type { Finding } from './finding.ts';

const check = 'feed';

/** The seconds for which a transaction may delay the feed. The store's own transactions are shorter. */
const tolerance = 10;

/** Checks the feed of changes, and names the transaction that delays the feed. */
export function feedChecks({ feed }: Pick<DatabaseState, 'feed'>): Finding[] {
  if (!feed) return [];
  if (feed.isRestored) {
    const message =
      'the feed of changes is that of another database, because somebody has restored or promoted this ' +
      'one: a running instance begins it anew within 30 s; if none does, run plant-store feed on as the ' +
      'owner of the tables';
    return [{ check, level: 'warning', message }];
  }
  if (!feed.isOn) {
    const message = 'the feed of changes is off: plant-store feed on switches it on';
    return [{ check, level: 'ok', message }];
  }
  if (!feed.hasIndex) {
    const message =
      'the feed of changes has no index, so each read takes long: run plant-store feed on';
    return [{ check, level: 'warning', message }];
  }
  const { oldest } = feed;
  if (oldest?.age === null) {
    const message =
      `the feed of changes waits for ${nameOf(oldest)}, and this user cannot see for how long: run doctor as a ` +
      'user with the role pg_read_all_stats';
    return [{ check, level: 'warning', message }];
  }
  if (!oldest || oldest.age < tolerance) {
    return [{ check, level: 'ok', message: 'the feed of changes is on' }];
  }
  const message =
    `the feed of changes may lack the changes of the last ${Math.round(oldest.age)} s, because it waits for ` +
    `${nameOf(oldest)}: ${remedy(oldest)}`;
  return [{ check, level: 'warning', message }];
}

function nameOf({ pid, prepared, user, application, database, state, since }: OldTransaction) {
  const details = [`database ${database}`, user && `user ${user}`, application, state];
  const who =
    pid === null ? `the prepared transaction ${prepared}` : `the transaction of process ${pid}`;
  return `${who} (${details.filter(Boolean).join(', ')})${since ? ` since ${since}` : ''}`;
}

function remedy({ pid, prepared, database }: OldTransaction): string {
  if (pid !== null) return `end it with SELECT pg_terminate_backend(${pid})`;
  return `run COMMIT PREPARED or ROLLBACK PREPARED ${prepared} in the database ${database}`;
}
