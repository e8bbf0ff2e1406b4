import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { peerCases } from '../src/contenders.ts';
import { accessToken } from '../src/load.ts';
import { startServer } from '../src/server.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bench = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);
const [creates] = await peerCases();
const stores = creates?.contenders.filter(({ database }) => database !== 'none') ?? [];
const servers = new Map(stores.map((server) => [server.program.file, server])).values();

it.each([...servers])(
  '$name creates, lists and gets plants as the other servers do',
  async ({ name, program }) => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    await (await openPlantStore({ databaseUrl })).close();
    const env = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: accessToken };
    const { url, stop } = await startServer(program, env);
    onTestFinished(stop);
    const send = async (path: string, body?: object, token = accessToken) => {
      const response = await fetch(url + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = (await response.text()).replaceAll(/"(id|next)":"(\d+)"/g, '"$1":$2');
      return response.ok ? JSON.parse(text.replaceAll(',"tag":null', '')) : response.status;
    };
    const plant = { name: 'Ficus lyrata', tag: 'Moraceae' };
    expect(await send('/plants', { id: 1, ...plant }, 'other')).toBe(401);
    expect(await send('/plants', { id: 1 })).toBe(400);
    expect(await send('/plants', { id: 1, ...plant })).toEqual(plant);
    const plants = [1, 2, 3].map((id) => ({ id, ...plant }));
    expect(await send('/plants/batch', { plants }), name).toEqual({
      results: [1, 2, 3].map((id) => ({ id, result: id === 1 ? 'exists' : 'created' })),
    });
    expect(await send('/plants?after=1&limit=1')).toMatchObject({ plants: [plants[1]], next: 2 });
    expect(await send('/plants/3')).toMatchObject(plants[2] ?? {});
    expect(await send('/plants/4')).toBe(404);
  },
);

it('the benchmark measures a case, and prints its CPU time and the verdict on its bound', async () => {
  const { stdout } = await bench('get', '--rounds', '1', '--seconds', '1');
  expect(stdout).toMatch(/^get +ours +[\d,]+ +[\d.–]+ /m);
  expect(stdout).toMatch(/^get, ours ÷ Fastify \+ raw postgres\.js: .* (met|missed)$/m);
  expect(stdout).not.toContain('FAILED');
});

it('the benchmark rejects an unknown case and an unknown commit', async () => {
  const unknown = {
    code: 2,
    stderr: expect.stringContaining('there is no case gets: choose from'),
  };
  await expect(bench('gets')).rejects.toMatchObject(unknown);
  const missing = { stderr: expect.stringContaining('the commit no-such-commit cannot be built') };
  await expect(bench('against', 'no-such-commit')).rejects.toMatchObject(missing);
});
