import { createDatabase } from '@plant-store/test-setup';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { useDirectory } from '../fixtures/plant-files.ts';
import { hasTerminals, run, runOnTerminal } from '../fixtures/run-program.ts';

describe.each([
  { database: 'Postgres', deleted: ['-9223372036854775808', '-5', '9223372036854775807'] },
  { database: 'the embedded database', deleted: ['-9223372036854775808'] },
])('on $database', ({ database, deleted }) => {
  let env: Record<string, string>;
  const directory = useDirectory({ isShared: true });

  beforeAll(async () => {
    env =
      database === 'Postgres'
        ? { DATABASE_URL: await createDatabase(inject('postgresUrl')) }
        : { PLANT_STORE_DATA_DIR: directory.path('store') };
    const ids = [-9223372036854775808n, -5n, 1n, 2n, 3n, 9223372036854775807n];
    const input = ids.map((id) => `{"id":${id},"name":"Pilea","tag":"Urticaceae"}\n`).join('');
    await run(['import', '-', '--rejects', directory.path('rejects')], { env, input });
  });

  const get = (id: string) => run(['get', id], { env });

  it.each(deleted)('deletes the plant with the id %s', async (id) => {
    const stdout = `deleted the plant with the id ${id}\n`;
    expect(await run(['delete', id, '--yes'], { env })).toEqual({ code: 0, stdout, stderr: '' });
    expect((await get(id)).code).toBe(1);
    expect((await run(['delete', id, '--yes'], { env })).code).toBe(1);
  });

  it('writes the deleted plant with --json, so that an import can restore the plant', async () => {
    const stored = (await get('1')).stdout;
    const { stdout } = await run(['delete', '1', '--yes', '--json'], { env });
    expect(stdout).toBe(stored);
    const rejects = directory.path('rejects');
    const restored = await run(['import', '-', '--rejects', rejects], { env, input: stdout });
    expect(restored.stdout).toContain('1 created');
  });

  it('deletes nothing without --yes when there is no terminal', async () => {
    expect(await run(['delete', '2'], { env, input: 'y\n' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'plant-store: cannot ask without a terminal: add --yes to delete the plant\n',
    });
    expect((await get('2')).code).toBe(0);
  });

  it.runIf(hasTerminals)(
    'shows the plant on a terminal, and deletes the plant after "y" (needs util-linux)',
    async () => {
      const question = `Delete ${(await get('3')).stdout.trimEnd()}? [y/N] `;
      const cancelled = await runOnTerminal(['delete', '3'], { env, input: '\n' });
      expect(cancelled.stdout).toContain(
        `${question}plant-store: the plant with the id 3 is not deleted`,
      );
      expect(cancelled.code).toBe(1);
      expect((await get('3')).code).toBe(0);

      const deleted = await runOnTerminal(['delete', '3'], { env, input: 'y\n' });
      expect(deleted.stdout).toContain(`${question}deleted the plant with the id 3`);
      expect(deleted.code).toBe(0);
      expect((await get('3')).code).toBe(1);
    },
  );
});
