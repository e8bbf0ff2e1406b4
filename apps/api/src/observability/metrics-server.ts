import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

/**
 * Serves `/metrics` without a token, on a port of its own, which you can hide from clients of the store. Returns
 * the URL of the metrics.
 */
export async function serveMetrics({ contentType, text }: Metrics, host: string, port?: number) {
  const server = createServer(async ({ url, method = '' }, response) => {
    try {
      const isFound = url === '/metrics';
      const isRead = ['GET', 'HEAD'].includes(method);
      response.setHeader('allow', 'GET, HEAD');
      if (!isFound || !isRead) response.writeHead(isFound ? 405 : 404).end('GET /metrics\n');
      else response.setHeader('content-type', contentType).end(await text());
    } catch {
      response.writeHead(500).end();
    }
  });
  // Prometheus needs one connection. Each further connection takes a file descriptor from the clients.
  server.maxConnections = 8;
  await once(server.listen(port, host), 'listening');
  const { address, family, port: chosen } = server.address() as AddressInfo; // The server has no Unix socket.
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}/metrics`;
}
