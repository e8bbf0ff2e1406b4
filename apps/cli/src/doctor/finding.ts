import type { Hazard } from '@plant-store/core/operator';

/** The result of one check. */
export interface Finding {
  check:
    | Hazard['check']
    | 'configuration'
    | 'connection'
    | 'hosts'
    | 'migrations'
    | 'rights'
    | 'locks'
    | 'commits'
    | 'feed'
    | 'clock'
    | 'disk'
    | 'distribution'
    | 'cluster';
  level: Hazard['level'];
  /** What the check found and, when it is not ok, what to do about it. */
  message: string;
}
