import type { AppRouter } from '@plant-store/core/router';
import { createTRPCClient, httpLink } from '@trpc/client';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPrefixProxy } from '../fixtures/prefix-proxy.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

let server: RunningServer;
let proxy: Awaited<ReturnType<typeof startPrefixProxy>>;
let url: string;
let headers: Record<string, string>;

beforeAll(async () => {
  server = await startServer('Postgres');
  proxy = await startPrefixProxy(server.url, '/store');
  url = proxy.url;
  headers = { authorization: `Bearer ${server.token}` };
});

afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

/** The addresses of the links and files of a page, as a browser resolves them. */
const addressesOn = (page: string, base: string) =>
  [...page.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, address = '']) =>
    String(new URL(address, base)),
  );

describe('behind a proxy with a path prefix', () => {
  it.each(['/docs', '/docs/', '/docs/errors'])(
    'serves %s, and every file that this page loads',
    async (path) => {
      const response = await fetch(url + path);
      expect(response.status).toBe(200);
      const addresses = addressesOn(await response.text(), response.url);
      expect(addresses).toContain(`${url}/favicon.ico`);
      for (const address of addresses) expect((await fetch(address)).status).toBe(200);
    },
  );

  it('gives the API reference the right addresses of the document and of the store', async () => {
    const page = await (await fetch(`${url}/docs`)).text();
    const [, configuration = ''] = /createApiReference\('#app', (\{.*\})\)/s.exec(page) ?? [];
    const evaluate = new Function('location', `return ${configuration}`);
    expect(evaluate(`${url}/docs#tag/plants`)).toMatchObject({
      url: 'openapi.json',
      servers: [{ url }],
    });
  });

  it('links to the page of errors from the document and from the API reference', async () => {
    const { info } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
    const [, link = ''] = /\]\((.*?)\)/.exec(info.description) ?? [];
    for (const base of ['openapi.json', 'docs']) {
      expect(String(new URL(link, `${url}/${base}`))).toBe(`${url}/docs/errors`);
    }
  });

  it('creates a plant at the address that the document gives', async () => {
    const response = await fetch(`${url}/openapi.json`);
    const { servers, paths } = (await response.json()) as Document;
    const [path = ''] = Object.keys(paths);
    // The URL of a server is relative to the document, and a path is appended to it.
    const base = String(new URL(servers[0]?.url ?? '', response.url)).replace(/\/$/, '');
    const created = await fetch(base + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, name: 'Hoya carnosa' }),
    });
    expect(await created.json()).toEqual({ name: 'Hoya carnosa' });
  });

  it('creates a plant over tRPC', async () => {
    const link = httpLink({ url: `${url}/trpc`, headers, transformer: superjson });
    const client = createTRPCClient<AppRouter>({ links: [link] });
    expect(await client.createPlant.mutate({ id: 2n, name: 'Hoya' })).toEqual({ name: 'Hoya' });
  });

  it('sends no error message that contains a wrong address', async () => {
    const { message } = (await (await fetch(`${url}/plant`)).json()) as { message: string };
    expect(message).toBe(
      'there is no path /plant: the API reference (docs) lists the paths of this service',
    );
  });
});

interface Document {
  info: { description: string };
  servers: { url: string }[];
  paths: object;
}
