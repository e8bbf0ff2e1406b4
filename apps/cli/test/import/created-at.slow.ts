import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { rejectedRows, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

const files = {
  'a.csv': [
    ...['id,name,created_at', '1,a,2026-11-21T22:14:13.123456+05:30', '2,b,2024-02-29', '3,c,'],
    ...['4,d,2026-02-30T00:00:00Z', '5,e,yesterday', '6,f,2026-11-21T22:14:13', ''],
  ],
  'a.ndjson': [
    '{"id":1,"name":"a","created_at":"2026-11-21T22:14:13.123456+05:30"}',
    '{"id":2,"name":"b","createdAt":"2024-02-29"}',
    '{"id":3,"name":"c"}',
    '{"id":4,"name":"d","created_at":"2026-02-30T00:00:00Z"}',
    '{"id":5,"name":"e","created_at":"yesterday"}',
    '{"id":6,"name":"f","created_at":"2026-11-21T22:14:13"}',
    '',
  ],
};

it.each(Object.entries(files))(
  'stores the times in %s, and rejects texts that are not times',
  async (name, lines) => {
    const file = await directory.write(name, lines.join('\n'));
    const { code, stdout } = await run(['import', file, '--json'], { env });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 6, created: 3, rejected: 3 });
    const must = 'must be a time with its offset, such as 2026-11-01T09:30:00.123456Z';
    expect((await rejectedRows(file)).map(({ reason }) => reason)).toEqual([
      `invalid input: created_at "2026-02-30T00:00:00Z" ${must}`,
      `invalid input: created_at "yesterday" ${must}`,
      `invalid input: created_at "2026-11-21T22:14:13" ${must}`,
    ]);
    expect(
      await database.sql`select id, created_at::text from plants where id < 3 order by id`,
    ).toEqual([
      { id: '1', created_at: '2026-11-21 16:44:13.123456+00' },
      { id: '2', created_at: '2024-02-29 00:00:00+00' },
    ]);
    const dryRun = await run(['import', file, '--dry-run', '--json'], { env });
    expect(JSON.parse(dryRun.stdout)).toMatchObject({ valid: 3, rejected: 3 });
  },
);

it('counts a plant as existing when only the creation time differs', async () => {
  const file = await directory.write('a.ndjson', '{"id":1,"name":"a"}\n');
  await run(['import', file], { env });
  const again = await directory.write(
    'b.ndjson',
    '{"id":1,"name":"a","created_at":"2026-01-01T00:00:00Z"}\n{"id":1,"name":"b"}\n',
  );
  for (const options of [[], ['--created-at', 'now']]) {
    const { stdout } = await run(['import', again, '--json', ...options], { env });
    expect(JSON.parse(stdout)).toMatchObject({ exists: 1, conflicts: 1 });
  }
});
