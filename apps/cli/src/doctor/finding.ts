/** The result of one check. */
export interface Finding {
  check:
    | 'configuration'
    | 'connection'
    | 'hosts'
    | 'migrations'
    | 'tables'
    | 'rights'
    | 'locks'
    | 'commits'
    | 'feed'
    | 'clock'
    | 'durability'
    | 'disk'
    | 'distribution'
    | 'cluster';
  level: 'ok' | 'warning' | 'problem';
  /** What the check found and, when it is not ok, what to do about it. */
  message: string;
}
