import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');

it('the picture in docs/architecture.md has the hooks of server.ts in their order', async () => {
  const server = await read('apps/api/src/server.ts');
  const hooks = [...server.matchAll(/addHook\('onRequest', (\w+)[),(]/g)].map(([, name]) => name);
  expect(hooks.length).toBeLessThanOrEqual(10);
  const picture = /```mermaid\n(.*?)```/s.exec(await read('docs/architecture.md'))?.[1] ?? '';
  const steps = [...picture.matchAll(/--> (\w+)/g)].map(([, name]) => name);
  expect(steps.filter((step) => hooks.includes(step))).toEqual(hooks);
  for (const step of ['parseJsonBodies', 'sendJson']) expect(picture).toContain(`${step}:`);
});
