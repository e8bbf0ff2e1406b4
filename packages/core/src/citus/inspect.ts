import type { Query } from '../database/database.ts';
import type { Finding } from '../doctor.ts';

/** The greatest difference between the clocks of two nodes, in milliseconds. */
const maxClockDifference = 1_000;

/** Examines the nodes of a Citus cluster for `doctor` and `distribute`. Returns only what is not ok. */
export async function inspectCluster(query: Query): Promise<Finding[]> {
  const [coordinator] = await query<{ role: string; mayRecover: boolean }>(`
    select quote_ident(current_user) as role,
      has_function_privilege('recover_prepared_transactions()', 'execute') as "mayRecover"`);
  const findings: Finding[] = [];
  const report = (level: Finding['level'], message: string) =>
    findings.push({ check: 'cluster', level, message });
  if (!coordinator?.mayRecover) {
    report(
      'problem',
      `a privilege is missing: run GRANT EXECUTE ON FUNCTION recover_prepared_transactions() TO ${coordinator?.role} on the coordinator`,
    );
  }
  const sentAt = Date.now();
  const nodes = await query<{ node: string; success: boolean; result: string }>(
    `select nodename || ':' || nodeport as node, success, result from run_command_on_workers($1)`,
    [selectState],
  );
  const middle = (sentAt + Date.now()) / 2;
  for (const { node, success, result } of nodes) {
    if (!success) {
      report('problem', `the node ${node} is down (${result}): start it, and its plants come back`);
      continue;
    }
    const state: NodeState = JSON.parse(result);
    const ahead = Math.round(state.now - middle);
    if (Math.abs(ahead) > maxClockDifference) {
      report(
        'problem',
        `the clock of the node ${node} is ${ahead} ms ahead: set all clocks by NTP`,
      );
    }
    if (state.synchronousCommit === 'off') {
      report(
        'problem',
        `synchronous_commit is off on the node ${node}, so a crash can lose plants: run ALTER SYSTEM SET synchronous_commit = on, and SELECT pg_reload_conf()`,
      );
    }
    if (!state.mayReadSessions) {
      report(
        'problem',
        `a privilege is missing: run GRANT pg_read_all_stats TO ${coordinator?.role} on the node ${node}`,
      );
    }
    if (state.lockTimeout === '0') {
      report(
        'warning',
        `waits for locks have no limit on the node ${node}: run ALTER ROLE ${coordinator?.role} IN DATABASE … SET lock_timeout = '4s' on the coordinator`,
      );
    }
    if (state.maxPrepared === 0) {
      report(
        'problem',
        `max_prepared_transactions is 0 on the node ${node}: set it to 200 at least, and restart the node`,
      );
    }
  }
  return findings;
}

interface NodeState {
  now: number;
  synchronousCommit: string;
  mayReadSessions: boolean;
  lockTimeout: string;
  maxPrepared: number;
}

const selectState = `
  select json_build_object('now', (extract(epoch from clock_timestamp()) * 1000)::float8,
    'synchronousCommit', current_setting('synchronous_commit'),
    'mayReadSessions', pg_has_role('pg_read_all_stats', 'usage'),
    'lockTimeout', current_setting('lock_timeout'),
    'maxPrepared', current_setting('max_prepared_transactions')::int)`;
