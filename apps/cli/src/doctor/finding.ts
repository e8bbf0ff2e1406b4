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
    | 'webhooks'
    | 'clock'
    | 'disk'
    | 'distribution'
    | 'cluster'
    | 'instance';
  level: Hazard['level'];
  /** The result of the check. If the result is not ok, the message also has the remedy. */
  message: string;
}
