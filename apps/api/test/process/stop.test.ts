import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createDatabase, type StartedProcess, startProcess } from '@plant-store/test-setup';
import { afterEach, expect, inject, it, vi } from 'vitest';

let server: StartedProcess;
let port: string;

/** Runs in the server's process: something goes wrong there when it gets the signal SIGUSR2. */
const accident = (code: string) => {
  const script = `process.on('SIGUSR2', () => { ${code} })`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
};

async function start(env: Record<string, string> = {}): Promise<void> {
  const DATABASE_URL = await createDatabase(inject('postgresUrl'));
  server = startProcess({ DATABASE_URL, PLANT_STORE_TOKEN: 'secret', ...env });
  [, port = ''] = await server.printed(/REST +http:\/\/127\.0\.0\.1:(\d+)/);
}

afterEach(() => server.child.kill('SIGKILL'));

/** Begins to create a plant: the server has let the request in and waits for its body. */
async function begin(): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  socket.write(
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n' +
      'Content-Type: application/json\r\nContent-Length: 19\r\nExpect: 100-continue\r\n\r\n',
  );
  await once(socket, 'data');
  return socket;
}

async function finish(socket: Socket): Promise<string> {
  const [reply] = await Promise.all([once(socket, 'data'), socket.write('{"id":1,"name":"x"}')]);
  return String(reply);
}

const listensNoMore = () =>
  vi.waitFor(() => expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow());

it.each(['SIGTERM', 'SIGINT'] as const)(
  'finishes the requests under way when it is told to stop by %s',
  async (signal) => {
    await start();
    const socket = await begin();
    server.child.kill(signal);
    await listensNoMore();
    expect(await finish(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await server.ended()).toBe(0);
  },
);

it('says that it is not ready, and takes requests for a while, when it gets SIGTERM', async () => {
  await start({ PLANT_STORE_DRAIN_DELAY: '600000' });
  server.child.kill('SIGTERM');
  await vi.waitFor(async () =>
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503),
  );
  expect(await finish(await begin())).toMatch(/^HTTP\/1\.1 200 OK/);
});

it('ends at once when it gets a second signal', async () => {
  await start();
  await begin();
  server.child.kill('SIGTERM');
  await listensNoMore();
  server.child.kill('SIGINT');
  expect(await server.ended()).toBe(1);
});

it('ends though a client never sends the rest of its request', async () => {
  await start();
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Le');
  await once(socket, 'ready');
  server.child.kill('SIGTERM');
  expect(await server.ended()).toBe(0);
});

it.each([
  ['an exception', `throw new TypeError('an accident')`, 'an accident'],
  ['a rejection', `Promise.reject(new TypeError('an accident'))`, 'an accident'],
  [
    'something that is no error',
    `throw { secret: 'secret' }`,
    'no error was thrown, but a value (object)',
  ],
])(
  'answers what is under way, then ends with exit code 1, after %s',
  async (_what, code, message) => {
    await start(accident(code));
    const socket = await begin();
    server.child.kill('SIGUSR2');
    await listensNoMore();
    expect(await finish(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await server.ended()).toBe(1);

    const lines = server
      .output()
      .match(/^\{"level":60.*$/gm)
      ?.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { err: { message }, msg: 'an uncaught exception stops the process' },
    ]);
    expect(server.output()).not.toMatch(/"secret"|node_modules|\n +at /);
  },
);
