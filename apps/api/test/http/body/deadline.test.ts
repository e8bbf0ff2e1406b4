import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { CallOptions, PlantStore } from '@plant-store/core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { beginCreate } from '../../fixtures/raw-request.ts';
import { type ServerOnStore, shareStore } from '../../fixtures/running-server.ts';
import { surfaces } from '../../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"Hoya carnosa"}';

/** This body is so long that the body waits in the queue of large bodies. */
const largePlant = `{"id":2,"name":"${'x'.repeat(100_000)}"}`;

const bodyFor = (path: string, json = plant) => (path === '/plants' ? json : `{"json":${json}}`);

const startOnStore = shareStore();

/** Starts a server that stops when the test is finished. */
async function start(options: Parameters<typeof startOnStore>[0]): Promise<ServerOnStore> {
  const server = await startOnStore(options);
  onTestFinished(server.stop);
  return server;
}

/** Stops the clock of this process. Returns a function that moves the clock forward. */
function stopClock(): (milliseconds: number) => void {
  let time = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  return (milliseconds) => {
    time += milliseconds;
  };
}

/** Makes a function `create` that never resolves. `called` resolves with the options of the first call. */
function heldCreate() {
  const called = Promise.withResolvers<CallOptions>();
  const create: PlantStore['create'] = (_plant, options = {}) => {
    called.resolve(options);
    return new Promise(() => {});
  };
  return { create, called: called.promise };
}

it.each(
  surfaces.flatMap((surface) => [
    { ...surface, seconds: 6, json: plant },
    { ...surface, seconds: 25, json: largePlant },
  ]),
)(
  'responds over $name with 200 to a body of $json.length bytes that arrives in $seconds s',
  async ({ path, seconds, json }) => {
    const server = await start({});
    const passTime = stopClock();
    const body = bodyFor(path, json);
    const socket = await beginCreate(server, body, path);
    passTime(seconds * 1_000);
    socket.write(body);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

it.each(surfaces)(
  'gives the store five seconds after the body has arrived over $name',
  async ({ path }) => {
    const { create, called } = heldCreate();
    const server = await start({ create });
    const passTime = stopClock();
    const socket = await beginCreate(server, bodyFor(path), path);
    passTime(10_000);
    socket.write(bodyFor(path));
    expect((await called).deadline).toBe(performance.now() + 5_000);
  },
);

it.each(surfaces)(
  'subtracts the time of the token look-up from the five seconds of a request over $name',
  async ({ send }) => {
    const { create, called } = heldCreate();
    const passTime = stopClock();
    const authenticate = async () => {
      passTime(4_000);
      return { name: 'Ann', scopes: ['plants:create'] as const };
    };
    const server = await start({ create, authenticate });
    send(server, plant).catch(() => {});
    expect((await called).deadline).toBeCloseTo(performance.now() + 1_000);
  },
);

it.each(
  surfaces.flatMap(({ name, path }) => [
    { name, path, event: 'disconnects', leave: (socket: Socket) => socket.destroy() },
    { name, path, event: 'ends its side', leave: (socket: Socket) => socket.end() },
  ]),
)('tells the store over $name when the client $event', async ({ path, leave }) => {
  const { create, called } = heldCreate();
  const server = await start({ create });
  const socket = await beginCreate(server, bodyFor(path), path);
  socket.write(bodyFor(path));
  const { caller } = await called;
  expect(caller?.isGone).toBe(false);
  leave(socket);
  await vi.waitFor(() => expect(caller?.isGone).toBe(true));
});
