import { readdirSync } from 'node:fs';

/** The most connections that a server accepts. */
const enough = 10_000;

/**
 * File descriptors that the process may still need: for connections to the database, the identity
 * provider and Prometheus, and for files.
 */
const reserved = 24;

/** How many clients may be connected at the same time. */
export interface ConnectionCapacity {
  maxConnections: number;
  /** Why there are so few, for the log; undefined when there are enough file descriptors. */
  shortage: string | undefined;
}

/**
 * Counts the file descriptors that are left for clients. When a process has none left, Node closes
 * new connections without any error, and the process cannot connect to its database either.
 */
export function connectionCapacity(): ConnectionCapacity {
  const limit = fileDescriptorLimit();
  const left = limit - openFileDescriptors() - reserved;
  if (left >= enough) return { maxConnections: enough, shortage: undefined };
  const maxConnections = Math.max(1, left);
  return {
    maxConnections,
    shortage: `a limit of ${limit} file descriptors allows only ${maxConnections} connections: raise it (ulimit -n)`,
  };
}

/** Infinity when the system sets no limit, as on Windows. */
function fileDescriptorLimit(): number {
  // Without this, the report looks up the names of all peers. Its types do not have the property
  // yet.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as Report; // Node types it as an object.
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

function openFileDescriptors(): number {
  return process.platform === 'win32' ? 0 : readdirSync('/dev/fd').length;
}
