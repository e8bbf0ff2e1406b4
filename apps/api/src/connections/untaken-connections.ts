import type { Worker } from 'node:cluster';

/** A message of `node:cluster`: the primary passes a connection to a worker, or the worker responds. */
interface ClusterMessage {
  act?: string;
  seq?: number;
  ack?: number;
}

interface Connection {
  close(): void;
}

/**
 * Closes the connections that an ended worker has not taken. Otherwise, Node's primary and the clients would
 * wait for ever (`_handleQueue` in lib/internal/child_process.js, and
 * lib/internal/cluster/round_robin_handle.js).
 */
export function closeUntakenConnections(worker: Worker): void {
  const child: Worker['process'] & { _handleQueue?: unknown[] | null } = worker.process;
  const untaken = new Map<number, Connection>();
  const { send } = child;
  child.send = (message: ClusterMessage, connection?: unknown, ...rest: never[]) => {
    const { act, seq } = message;
    if (act === 'newconn' && seq !== undefined) untaken.set(seq, connection as Connection);
    return send.call(child, message, connection as never, ...rest);
  };
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) untaken.delete(ack);
  });
  worker.once('exit', () => {
    if (child._handleQueue) child.emit('internalMessage', { cmd: 'NODE_HANDLE_ACK' });
    setTimeout(closeUntaken, lastResponses);
  });

  function closeUntaken(): void {
    for (const connection of untaken.values()) connection.close();
  }
}

/** The last responses of an ended worker arrive within this number of milliseconds. */
const lastResponses = 500;
