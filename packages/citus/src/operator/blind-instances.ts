import type { Query } from '@plant-store/core/cluster';
import { askNodes } from './ask-nodes.ts';

/** An instance of the store with sessions on a node of a cluster. */
export interface Instance {
  /** The node that the instance uses, as `host:port`. */
  readonly node: string;
  /** The address of the instance's machine. Null when the instance uses a socket of the node. */
  readonly address: string | null;
  /** The `application_name` of the instance's sessions. */
  readonly application: string;
}

/**
 * Reads the instances that have not noticed that their database is a cluster: their sessions still have the
 * `application_name` for a single database. Earlier versions of the store write this name without a process
 * id. Ignores nodes that are down.
 *
 * Ignores idle sessions, because PgBouncer keeps the name of the last instance that used the session. Each
 * instance uses a session every 15 s.
 *
 * @param usedWithin the longest time in seconds since the last use of a session
 */
export async function readBlindInstances(query: Query, usedWithin = 30): Promise<Instance[]> {
  const results = await askNodes(query, blindInstances(usedWithin));
  return results.flatMap(({ address, result = '[]' }) => {
    const instances: Omit<Instance, 'node'>[] = JSON.parse(result);
    return instances.map((instance) => ({ node: address, ...instance }));
  });
}

const blindInstances = (usedWithin: number) => `
  select coalesce(json_agg(session), '[]') from (
    select distinct host(client_addr) as address, application_name as application
    from pg_stat_activity
    where application_name ~ '^plant-store( process [0-9]+)?$' and datname = current_database()
      and (state <> 'idle' or state_change > clock_timestamp() - interval '${usedWithin} s')
    order by 1, 2
  ) as session`;
