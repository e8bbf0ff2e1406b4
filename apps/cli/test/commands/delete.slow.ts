import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { hasTerminals, run, runOnTerminal } from '../fixtures/run-program.ts';

const database = useDatabase({ isShared: true, isMigrated: true });
const { env } = database;

const get = (id: string) => run(['get', id], { env });

it('deletes a plant, and with --json writes the plant, which an import can restore', async () => {
  const id = '-9223372036854775808';
  await database.sql`insert into plants (id, name, tag) values (${id}, 'Pilea', 'Urticaceae')`;
  const { stdout } = await get(id);
  expect(await run(['delete', id, '--yes', '--json'], { env })).toEqual({
    ...{ code: 0, stdout, stderr: '' },
  });
  expect((await run(['delete', id, '--yes'], { env })).code).toBe(1);
  expect((await run(['import', '-'], { env, input: stdout })).code).toBe(0);
  const text = `deleted the plant with the id ${id}\n`;
  expect((await run(['delete', id, '--yes'], { env })).stdout).toBe(text);
  expect((await get(id)).code).toBe(1);
});

it.runIf(hasTerminals)(
  'shows the plant on a terminal, and deletes the plant after "y" (needs util-linux)',
  async () => {
    await database.sql`insert into plants (id, name) values (3, 'Pilea')`;
    const question = `Delete ${(await get('3')).stdout.trimEnd()}? [y/N] `;
    const cancelled = await runOnTerminal(['delete', '3'], { env, input: '\n' });
    expect(cancelled.stdout).toContain(
      `${question}plant-store: the plant with the id 3 is not deleted`,
    );
    expect(cancelled.code).toBe(1);
    const deleted = await runOnTerminal(['delete', '3'], { env, input: 'y\n' });
    expect(deleted.stdout).toContain(`${question}deleted the plant with the id 3`);
    expect(deleted.code).toBe(0);
    expect((await get('3')).code).toBe(1);
  },
);
