import { startProcess } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { embeddedDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

it('names the process that uses the embedded database, and opens the database after this process ends', async () => {
  const path = directory.path('store');
  const env = await embeddedDatabase(path);
  const server = startProcess(env);
  await server.printed(/Add a plant/);
  const inUse = `${path} is in use by process ${server.child.pid}, started `;
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
});
