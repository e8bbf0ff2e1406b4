import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { hasTerminals, run, runOnTerminal, start } from '../fixtures/run-program.ts';

const directory = useDirectory();
const database = useDatabase({ isMigrated: true });
const { env } = database;

beforeEach(async () => {
  await database.sql`insert into plants (id, name) select generate_series(1, 4), 'Pilea'`;
});

const count = async () => (await database.sql`select from plants`).count;

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

it('deletes the plants with the ids in a file, and reports each line that is not an id', async () => {
  const file = await directory.write(
    'ids.csv',
    '\ufeffID\r\n1\r\n\r\n "2" \r\n7\r\n007\r\nx,3\r\n',
  );
  expect(await run(['delete', '--file', file, '--yes'], { env })).toEqual({
    code: 3,
    stdout: '2 deleted, 1 absent, 2 invalid\n',
    stderr:
      'plant-store: line 6: "007" is not an id: it must be a whole number\n' +
      'plant-store: line 7: "x,3" is not an id: it must be a whole number\n',
  });
  expect(await count()).toBe(2);
});

it('reads compressed ids from standard input, and counts absent plants in a second run', async () => {
  const args = ['delete', '--file', '-', '--yes', '--json'];
  const input = gzipSync('1\n2\n3');
  expect(await run(args, { env, input })).toEqual({
    code: 0,
    stdout: '{"deleted":3,"absent":0,"invalid":0}\n',
    stderr: '',
  });
  const repeated = await run(args, { env, input });
  expect(repeated).toMatchObject({ code: 0, stdout: '{"deleted":0,"absent":3,"invalid":0}\n' });
});

it('rejects standard input that is not text, before the input ends', async () => {
  const { child, result } = start(['delete', '--file', '-', '--yes'], { env });
  child.stdin.write(Buffer.alloc(100_000));
  const { code, stderr } = await result;
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is not text') });
});

it('deletes more plants than one statement can delete', async () => {
  const input = Array.from({ length: 3_500 }, (_, id) => `${id}\n`).join('');
  const { stdout } = await run(['delete', '--file', '-', '--yes'], { env, input });
  expect(stdout).toBe('4 deleted, 3496 absent, 0 invalid\n');
});

it.each([
  [['delete', '--file', 'ids', '1'], 'delete needs an id or --file, and not both'],
  [['delete'], 'delete needs an id or --file, and not both'],
  [['delete', '--file', '-'], 'cannot ask without a terminal: add --yes'],
  [['delete', '--file', join('no', 'such'), '--yes'], 'cannot read no'],
])('deletes nothing with the wrong arguments %j', async (args, message) => {
  const result = await run(args, { env, input: '1\n' });
  expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect(await count()).toBe(4);
});

it.runIf(hasTerminals)(
  'asks one question on a terminal, which names the number of ids (needs util-linux)',
  async () => {
    const file = await directory.write('ids', '1\n2\nx\n');
    const question = `Delete the plants with the 2 ids in ${file} (1 lines are not ids)? [y/N] `;
    const kept = await runOnTerminal(['delete', '--file', file], { env, input: 'n\n' });
    expect(kept.stdout).toContain(
      `${question}plant-store: the plants with the ids in ${file} are not`,
    );
    expect(kept.code).toBe(1);
    const deleted = await runOnTerminal(['delete', '--file', file], { env, input: 'y\n' });
    expect(deleted.stdout).toContain(question);
    expect(deleted.stdout).toContain('2 deleted, 0 absent, 1 invalid');
    expect(deleted.code).toBe(3);
  },
);
