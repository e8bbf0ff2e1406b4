import { once } from 'node:events';
import { connect } from 'node:net';
import { createDatabase, hasPosixShell, startProcess } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';
import { post } from '../fixtures/surfaces.ts';

/** The limit of file descriptors. The process itself needs about 30. */
const limit = 64;
const token = 'secret-of-the-tests';

// Windows has no such limit.
it.runIf(hasPosixShell)(
  'keeps file descriptors for the database, and reports each connection that it rejects',
  async () => {
    const server = startProcess(
      {
        DATABASE_URL: await createDatabase(inject('postgresUrl')),
        PLANT_STORE_TOKEN: token,
        PLANT_STORE_METRICS_PORT: '0',
      },
      `ulimit -n ${limit} && exec "$@"`,
    );
    onTestFinished(() => void server.child.kill('SIGKILL'));
    const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
    const [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
    const [, max] = await server.printed(
      /a limit of 64 file descriptors allows only (\d+) connections: raise it/,
    );
    const readRejected = async () => {
      const metrics = readPrometheusText(await (await fetch(metricsUrl)).text());
      return metrics.value('plant_store_errors_total{code="50301"}');
    };

    const { port, hostname } = new URL(url);
    const sockets = Array.from({ length: limit }, () => connect(Number(port), hostname));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    let closed = 0;
    for (const socket of sockets) {
      socket.on('error', () => {}).resume();
      socket.once('close', () => closed++);
    }
    await vi.waitFor(() => expect(closed).toBe(limit - Number(max)));
    expect(await readRejected()).toBe(closed);
    await server.printed(new RegExp(`a connection was rejected: ${max} are open`));

    // The open connections work, and the database has file descriptors for all its connections.
    const open = sockets.filter((socket) => !socket.closed);
    const responses = open.map(async (socket, id) => {
      const json = JSON.stringify({ id, name: 'x' });
      socket.write(
        `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
      );
      return String(await once(socket, 'data')).split('\r\n', 1)[0];
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['HTTP/1.1 200 OK']));

    for (const socket of sockets) socket.destroy();
    const target = { url, token };
    await vi.waitFor(async () =>
      expect((await post(target, '/plants', '{"id":99,"name":"x"}')).status).toBe(200),
    );
  },
);
