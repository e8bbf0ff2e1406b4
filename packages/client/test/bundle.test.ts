import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { token, url, useServer } from './fixtures/server.ts';

useServer();

/** Bundles and minifies code for browsers, like the build of a front end. */
async function bundle(contents: string) {
  const entry = join(import.meta.dirname, 'entry.ts');
  const load = (id: string) => (id === entry ? contents : undefined);
  const resolveId = (id: string) => (id === entry ? id : undefined);
  const plugins = [{ name: 'entry', resolveId, load }];
  const built = await rolldown({ input: entry, platform: 'browser', plugins });
  const { output } = await built.generate({ format: 'iife', minify: true });
  const [{ code, modules }] = output;
  const kept = Object.entries(modules).filter(([, { renderedLength }]) => renderedLength > 0);
  return { code, from: new Set(kept.map(([path]) => origin(path))), size: gzipSync(code).length };
}

/** Returns the package of a file in a bundle, or the directory of a file in this repository. */
function origin(path: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? dirname(path);
}

/** Runs code with the globals of a web page, but without the globals of Node. */
function runAsPage(code: string, page: Record<string, unknown>): Promise<unknown> {
  const web = { fetch, Headers, URL, AbortController, DOMException, Event, EventTarget };
  const timers = { setTimeout, clearTimeout };
  return runInContext(code, createContext({ ...web, ...timers, ...page }));
}

/** Whether a package or a directory belongs to the server or the database. */
const isOfServer = (name: string) => /core|apps\/api|drizzle|postgres|fastify|pino/.test(name);

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

/** Expects a size below the size that the README states after the text `before`. */
function expectStatedSize(size: number, before: string): void {
  const stated = Number(readme.split(before)[1]?.match(/ adds (?:about )?(\d+) kB/)?.[1]);
  const advice = 'find what has grown: if the growth is worth it, name the new size in the README';
  expect(size / 1000, advice).toBeLessThan(stated);
}

const createPlant = `
  import { createPlantStoreClient, plantStoreError } from '../src/index.ts';

  globalThis.outcome = (async () => {
    const client = createPlantStoreClient({ url, token: async () => token });
    const plant = await client.createPlant.mutate({ id: 9007199254740993n, name: 'Monstera deliciosa' });
    const taken = client.createPlant.mutate({ id: 9007199254740993n, name: 'Ficus lyrata' });
    return [plant, await taken.catch(plantStoreError)];
  })();
`;

describe('a browser bundle', () => {
  it('contains the client, but no code of the server or of Node', async () => {
    const { code, from, size } = await bundle(createPlant);
    expect([...from].filter(isOfServer)).toEqual([]);
    expectStatedSize(size, '# @plant-store/client');
    expect(await runAsPage(`${code}; outcome`, { url, token })).toMatchObject([
      { name: 'Monstera deliciosa' },
      { code: 40900, kind: 'idTaken' },
    ]);
  });

  it('contains the schema that a form imports, but no code of the client', async () => {
    const { code, from, size } = await bundle(`
      import { NewPlant } from '@plant-store/schemas';
      globalThis.messages = NewPlant.safeParse({ id: 1n }).error.issues.map(({ message }) => message);
    `);
    expect([...from].filter(isOfServer)).toEqual([]);
    expect(from).not.toContain('@trpc/client');
    expectStatedSize(size, 'To check a form');
    expect(runAsPage(`${code}; messages`, {})).toEqual(['is missing: it must be a string']);
  });
});
