import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { run } from '../fixtures/run-program.ts';

it('names the process that uses the embedded database, and works after this process ends', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-cli-'));
  const env = { PLANT_STORE_DATA_DIR: directory };
  const server = startProcess(env);
  await server.printed(/Add a plant/);
  const inUse = `${directory} is in use by process ${server.child.pid}, started `;
  const [list, doctor] = await Promise.all([run(['list'], { env }), run(['doctor'], { env })]);
  expect(list.stderr).toContain(`plant-store: the data directory ${inUse}`);
  expect(list.code).toBe(1);
  expect(doctor.stdout).toContain(inUse);
  expect(doctor.code).toBe(1);

  server.child.kill();
  await server.ended();
  const after = await run(['doctor'], { env });
  expect(after.stdout).toMatch(/^ok +migrations +all are applied$/m);
  expect(after.stdout).toMatch(/^warning +durability +the embedded database may lose plants/m);
  expect(after.code).toBe(0);
  await rm(directory, { recursive: true });
});
