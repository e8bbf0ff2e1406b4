import { readdirSync } from 'node:fs';

/** The most connections that a server accepts. */
const enough = 10_000;

/**
 * File descriptors that the process may still need: for connections to the database, the identity
 * provider and Prometheus, and for files.
 */
const reserved = 24;

/**
 * Returns how many clients may be connected at the same time, and the reason for a low number. When a
 * process has no file descriptors left, Node closes new connections without any error, and the process
 * cannot connect to its database either.
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

/** Returns the limit of file descriptors. It is `Infinity` when the system sets no limit, as on Windows. */
function fileDescriptorLimit(): number {
  // Without this property, the report looks up the host names of all peers. Node's types do not declare
  // the property yet.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as Report; // Node declares the report as an object.
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

function openFileDescriptors(): number {
  return process.platform === 'win32' ? 0 : readdirSync('/dev/fd').length;
}
