/** The result of one check. */
export interface Finding {
  check: 'configuration' | 'connection' | 'migrations' | 'clock' | 'durability' | 'cluster';
  level: 'ok' | 'warning' | 'problem';
  /** What the check found and, when it is not ok, what to do about it. */
  message: string;
}
