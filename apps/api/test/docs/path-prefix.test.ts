import { describe, expect, it } from 'vitest';
import { startPrefixProxy } from '../fixtures/prefix-proxy.ts';
import { share, shareServer } from '../fixtures/running-server.ts';

const server = shareServer();
const proxy = share(() => startPrefixProxy(server.url, '/store'));
const headers = { authorization: 'Bearer test-token' };
const getJson = async (path: string) => (await fetch(proxy.url + path)).json();

/** Returns the addresses of the files that a page loads. `base` is the address of the page. */
const addressesOn = (page: string, base: string) =>
  [...page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(([, address = '']) =>
    String(new URL(address, base)),
  );

describe('behind a proxy with a path prefix, the server', () => {
  it.each(['/docs', '/docs/', '/docs/errors'])(
    'serves the page %s, and every file that the page loads',
    async (path) => {
      const response = await fetch(proxy.url + path);
      expect(response.status).toBe(200);
      const addresses = addressesOn(await response.text(), response.url);
      expect(addresses).toContain(`${proxy.url}/favicon.ico`);
      for (const address of addresses) expect((await fetch(address)).status).toBe(200);
    },
  );

  it('gives the API reference the right address of the OpenAPI document and of the store', async () => {
    const page = await (await fetch(`${proxy.url}/docs`)).text();
    const [, configuration = ''] = /createApiReference\('#app', (\{.*\})\)/s.exec(page) ?? [];
    const evaluate = new Function('location', `return ${configuration}`);
    expect(evaluate(`${proxy.url}/docs#tag/plants`)).toMatchObject({
      url: 'openapi.json',
      servers: [{ url: proxy.url }],
    });
  });

  it('links to the page of errors from the OpenAPI document and from the API reference', async () => {
    const { info } = (await getJson('/openapi.json')) as Document;
    const [, link = ''] = /\]\((.*?)\)/.exec(info.description) ?? [];
    for (const base of ['openapi.json', 'docs']) {
      expect(String(new URL(link, `${proxy.url}/${base}`))).toBe(`${proxy.url}/docs/errors`);
    }
  });

  it('creates a plant at the address that the OpenAPI document gives', async () => {
    const { servers, paths } = (await getJson('/openapi.json')) as Document;
    const [path = ''] = Object.keys(paths);
    // Clients resolve the URL of a server from the address of the document, and append the path.
    const base = String(new URL(servers[0]?.url ?? '', `${proxy.url}/openapi.json`)).replace(
      /\/$/,
      '',
    );
    const created = await fetch(base + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, name: 'Hoya carnosa' }),
    });
    expect(await created.json()).toEqual({ name: 'Hoya carnosa' });
  });

  it('names an unknown path without the prefix in an error message', async () => {
    expect(await getJson('/plant')).toMatchObject({
      message: 'there is no path /plant: the API reference (docs) lists the paths of this service',
    });
  });
});

interface Document {
  info: { description: string };
  servers: { url: string }[];
  paths: object;
}
