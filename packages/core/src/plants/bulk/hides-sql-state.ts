/**
 * Whether Citus reports an error of a worker's COPY. It replaces the worker's SQLSTATE by XX000, so that a
 * rejected row and a lost worker look alike (`ReportCopyError` in
 * https://github.com/citusdata/citus/blob/v13.2.2/src/backend/distributed/commands/multi_copy.c).
 */
export function hidesSqlState(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'routine' in error && error.routine === 'ReportCopyError';
}
