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
  /** The result of the check and, if it is not ok, the remedy. */
  message: string;
}
