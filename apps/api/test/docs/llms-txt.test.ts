import { expect, it } from 'vitest';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

it('lists the pages for language models, and the addresses of a running store', async () => {
  const response = await fetch(`${server.url}/llms.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const served = [...(await response.text()).matchAll(/\]\((\.\/[^)]+)\)/g)];
  expect(served).toHaveLength(3);
  for (const [, path = ''] of served) {
    expect((await fetch(new URL(path, response.url))).status).toBe(200);
  }
});
