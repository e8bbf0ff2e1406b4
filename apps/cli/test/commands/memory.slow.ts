import { devNull } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run, start } from '../fixtures/run-program.ts';

const database = useDatabase({ isMigrated: true });
const { env } = database;

it('imports and exports many plants with little memory', async () => {
  const count = 120_000;
  function* lines() {
    for (let first = 0; first < count; first += 1000) {
      const plant = (_: unknown, i: number) =>
        `{"id":${first + i},"name":"${first + i} ${'x'.repeat(500)}"}\n`;
      yield Array.from({ length: 1000 }, plant).join('');
    }
  }
  // The names of all plants together need more memory than the heap has.
  const node = ['--max-old-space-size=48'];
  const importing = start(['import', '-', '--json', '--rejects', devNull], { env, node });
  await pipeline(Readable.from(lines()), importing.child.stdin);
  expect(JSON.parse((await importing.result).stdout)).toMatchObject({ created: count });

  const { code, stdout } = await run(['export', '--columns', 'id,name'], { env, node });
  expect(code).toBe(0);
  expect(stdout === [...lines()].join('')).toBe(true);
});

it('exports long plants with little memory', async () => {
  await database.sql`insert into plants (id, name) select id, repeat('x', 1000000) from generate_series(1, 60) as id`;
  const { code, stdout } = await run(['export'], { env, node: ['--max-old-space-size=32'] });
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(60_000_000);
});
