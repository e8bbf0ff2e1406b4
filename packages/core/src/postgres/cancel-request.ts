import { connect, type NetConnectOpts } from 'node:net';

/** A session of a server. At the start of a session, the server sends the process id and the secret. */
export interface Session {
  readonly pid: number;
  readonly secret: number;
}

/**
 * Asks a server to cancel the running statement of a session (PostgreSQL's manual, "Canceling Requests in
 * Progress"). Resolves when the server has handled the request, when the server is unreachable, or after
 * `timeout` milliseconds. The promise is never rejected.
 *
 * The request needs no TLS, because the session's secret has no other use.
 */
export async function cancelStatement(
  address: NetConnectOpts,
  { pid, secret }: Session,
  timeout: number,
): Promise<void> {
  const request = Buffer.alloc(16);
  request.writeUInt32BE(request.length, 0);
  request.writeUInt32BE(cancelRequestCode, 4);
  request.writeUInt32BE(pid, 8);
  request.writeUInt32BE(secret, 12);

  const socket = connect(address);
  socket.on('error', () => {}).setTimeout(timeout, () => socket.destroy());
  socket.write(request);
  socket.resume(); // The server sends no response to a cancel request, and closes the connection.
  // With `once` of node:events, an unreachable server would cause an exception.
  await new Promise((resolve) => socket.once('close', resolve));
}

const cancelRequestCode = 80877102;
