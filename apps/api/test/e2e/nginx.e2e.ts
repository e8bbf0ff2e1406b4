import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import {
  createDatabase,
  freePort,
  hasPosixSignals,
  makeCertificate,
  untilLogged,
  withSbin,
} from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import {
  type EventSurface,
  eventSurfaces,
  followEvents,
  requestEvents,
} from '../fixtures/event-surfaces.ts';
import { serve, stopProgram } from '../fixtures/program.ts';
import { share, startServer, token } from '../fixtures/server.ts';
import { type Outcome, rest, type Surface, surfaces } from '../fixtures/surfaces.ts';

const hasNginx = spawnSync('nginx', ['-v'], { env: withSbin }).error === undefined;
const authority = makeCertificate('The test authority');

describe.runIf(hasNginx)('nginx with docs/nginx.conf', () => {
  const nginx = share(async () => {
    const server = await startServer({ PLANT_STORE_TRUST_PROXY: '127.0.0.1' });
    const started = await startNginx([server.url]);
    return {
      ...started,
      async stop() {
        await started.stop();
        await server.stop();
      },
    };
  });

  it.each(['', '/store'])('forwards REST and tRPC under the path prefix %j', async (prefix) => {
    const target = { url: nginx.url + prefix, token };
    for (const { call } of surfaces) {
      const plant = { id: 5n, name: 'Hoya' };
      const { output, headers } = await call(target, 'createPlant', plant);
      expect(output).toEqual({ name: 'Hoya' });
      expect(headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);
      expect((await call(target, 'createPlant', { ...plant, name: 'x' })).error).toBe(40900);
      expect((await call(target, 'listPlants', {})).output).toMatchObject({ plants: [plant] });
      expect((await call(target, 'deletePlant', { id: 5n })).error).toBeUndefined();
      expect((await call(target, 'getPlant', { id: 5n })).error).toBe(40401);
    }
  });

  it.each(eventSurfaces)('forwards an event of $name while the stream is open', async (surface) => {
    const target = { url: `${nginx.url}/store`, token };
    const { received, changes } = await followEvents(surface, target);
    await vi.waitFor(() => expect(received()).toMatch(/^id: /m));
    await rest.call(target, 'createPlant', { id: 6n, name: 'Pilea' });
    await vi.waitFor(() => expect(changes()).toEqual([['created', '6']]));
    await rest.call(target, 'deletePlant', { id: 6n });
  });

  it('sends its own errors in the form of the contract', async () => {
    const body = 'a'.repeat(1_100_000);
    const large = await fetch(`${nginx.url}/plants`, { method: 'POST', body });
    expect([large.status, await large.json()]).toMatchObject([413, { error: 41300 }]);
    const long = await fetch(`${nginx.url}/${'a'.repeat(20_000)}`);
    expect([long.status, await long.json()]).toMatchObject([431, { error: 43100 }]);
    const nowhere = await startNginx([`http://127.0.0.1:${await freePort()}`]);
    onTestFinished(nowhere.stop);
    const down = await fetch(`${nowhere.url}/plants`);
    expect([down.status, await down.json()]).toMatchObject([503, { error: 50300 }]);
    expect(down.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

it.runIf(hasNginx && hasPosixSignals)(
  'no request fails during a rolling restart behind nginx',
  async () => {
    const DATABASE_URL = await createDatabase(inject('postgresUrl'));
    const start = async (port: number) => {
      const program = await serve({
        DATABASE_URL,
        PORT: String(port),
        PLANT_STORE_DRAIN_DELAY_MS: '1000', // This drain delay is the default of the server outside tests.
      });
      const ready = async () => (await fetch(`${program.url}/readyz`)).status;
      await expect.poll(ready).toBe(200);
      return program;
    };
    const ports = [await freePort(), await freePort()];
    const programs = await Promise.all(ports.map(start));
    const nginx = await startNginx(ports.map((port) => `http://127.0.0.1:${port}`));
    onTestFinished(nginx.stop);

    let isOver = false;
    const errors: unknown[] = [];
    const check = async (request: Promise<Outcome | Response>) => {
      const outcome = await request.catch(String);
      if (![200, 204].includes(Object(outcome).status)) errors.push(outcome);
      return Object(outcome);
    };
    /** Resolves with the number of created plants. Each client has its own ids. */
    const runClient = async ({ call }: Surface, firstId: number) => {
      const target = { url: nginx.url, token };
      let id = firstId;
      for (; !isOver; id++) {
        await check(call(target, 'createPlant', { id, name: 'Hoya' }));
        await check(call(target, 'getPlant', { id }));
        await check(call(target, 'listPlants', { limit: 1 }));
        await check(call(target, 'replacePlant', { id, name: 'Fern' }));
        await check(call(target, 'deletePlant', { id }));
      }
      return id - firstId;
    };
    const follow = async ({ call }: Surface) => {
      let cursor = {};
      while (!isOver) {
        const target = { url: nginx.url, token };
        const { output } = await check(call(target, 'listPlantChanges', { wait: 1, ...cursor }));
        if (output) cursor = { after: output.next };
      }
    };
    const listen = async (surface: EventSurface) => {
      const read = async () => {
        const response = await requestEvents(surface, { url: nginx.url, token });
        await response.text(); // A stream ends when its instance stops.
        return response;
      };
      while (!isOver) await check(read());
    };
    const clients = [1, 2, 3].flatMap((client) =>
      surfaces.map((surface, i) => runClient(surface, 1e6 * (2 * client + i))),
    );
    const readers = [...surfaces.map(follow), ...eventSurfaces.map(listen)];
    for (const [i, program] of programs.entries()) {
      expect(await stopProgram(program)).toBe(0);
      programs[i] = await start(ports[i] ?? 0);
    }
    isOver = true;
    const created = await Promise.all(clients);
    await Promise.all(programs.map(stopProgram));
    await Promise.all(readers);
    expect(errors).toEqual([]);
    expect(Math.min(...created)).toBeGreaterThan(1);
  },
);

/**
 * Starts an nginx with docs/nginx.conf. Replaces only the addresses, the certificate and the timeouts.
 * `upstreams` are the URLs of the instances. All clients of this process trust the certificate.
 */
async function startNginx(upstreams: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-nginx-'));
  const port = await freePort();
  setDefaultCACertificates([...rootCertificates, authority.certificate]);
  const { certificate, key } = makeCertificate('127.0.0.1', authority);
  await writeFile(join(directory, 'certificate'), certificate);
  await writeFile(join(directory, 'key'), key, { mode: 0o600 });
  const hosts = upstreams.map((url) => `server ${new URL(url).host} max_fails=0;`);
  const configuration = await readFile(
    new URL('../../../../docs/nginx.conf', import.meta.url),
    'utf8',
  );
  await writeFile(
    join(directory, 'plant-store.conf'),
    replaceEach(configuration.replaceAll(/ (1|15)s;/g, ' 60s;'), [
      [/server 10\.0\.0\.11:3000[^;]*;/, hosts.join('\n')],
      [/server 10\.0\.0\.12:3000[^;]*;/, ''],
      [/listen (80|443 ssl http2);/, `listen 127.0.0.1:${port} ssl http2;`],
      [/( *ssl_certificate.*;\n)*\n? {2}location/, `${tls}  location`],
    ]),
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = `daemon off; master_process off; pid nginx.pid; error_log stderr notice;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
  include plant-store.conf;
}
`;
  await writeFile(join(directory, 'nginx.conf'), main);

  const nginx = spawn('nginx', ['-p', `${directory}/`, '-c', 'nginx.conf', '-e', 'stderr'], {
    env: withSbin,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(nginx, 'exit');
  await untilLogged(nginx, /using the "/);
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    async stop() {
      nginx.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true });
    },
  };
}

const tls = '  ssl_certificate certificate;\n  ssl_certificate_key key;\n';

/** Replaces each pattern once. Throws an error when a pattern matches nothing. */
function replaceEach(text: string, replacements: [pattern: RegExp, replacement: string][]): string {
  return replacements.reduce((replaced, [pattern, replacement]) => {
    if (!pattern.test(replaced)) throw new Error(`the configuration has no ${pattern}`);
    return replaced.replace(pattern, () => replacement);
  }, text);
}
