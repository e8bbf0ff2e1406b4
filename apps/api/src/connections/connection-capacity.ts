import { readdirSync } from 'node:fs';

/** The most connections that a server accepts. */
const enough = 10_000;

/**
 * The file descriptors that stay free for the process itself: for its files, and for its connections to the
 * database, the identity provider and Prometheus.
 */
const reserved = 24;

/**
 * Returns how many clients may be connected at the same time, and the reason for a low number. Without free
 * file descriptors, Node closes new connections without any error, and the process cannot connect to its
 * database.
 */
export function connectionCapacity() {
  const limit = fileDescriptorLimit();
  const left = limit - openFileDescriptors() - reserved;
  if (left >= enough) return { maxConnections: enough, shortage: undefined };
  const maxConnections = Math.max(1, left);
  return {
    maxConnections,
    shortage: `a limit of ${limit} file descriptors allows only ${maxConnections} connections: raise it (ulimit -n)`,
  };
}

/** Returns the limit of file descriptors, or `Infinity` when the system sets no limit, as on Windows. */
function fileDescriptorLimit(): number {
  // Without `excludeNetwork`, which Node's types lack, the report looks up the host names of all peers.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as Report; // Node types the report as `object`.
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

function openFileDescriptors(): number {
  return process.platform === 'win32' ? 0 : readdirSync('/dev/fd').length;
}
