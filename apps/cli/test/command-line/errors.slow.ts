import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@plant-store/test-setup';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { buildProgram } from '../../src/program.ts';
import { migratedDatabase } from '../fixtures/migrated-database.ts';
import { run } from '../fixtures/run-program.ts';

/** No test of this file changes this store. */
let env: { DATABASE_URL: string };

beforeAll(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
  await (await migratedDatabase(env)).end();
});

const usage = 2;

it.each([
  [['get', '7'], 1, 'plant-store: no plant has the id 7: plant-store list shows the ids\n'],
  [
    ['delete', '7', '--yes'],
    1,
    'plant-store: no plant has the id 7: plant-store list shows the ids\n',
  ],
  [
    ['token', 'create', 'x', '--expires', '0d'],
    usage,
    "error: option '--expires <duration>' argument '0d' is invalid. It must be a duration such as 90d, 12h or 30m, with a number from 1 to 999999.\n",
  ],
])('reports the error of %j in one line on stderr', async (args, code, stderr) => {
  expect(await run(args, { env })).toEqual({ code, stdout: '', stderr });
});

describe('says what is wrong and what to do', () => {
  it.each([
    [['lst'], "unknown command 'lst'"],
    [['get', '1.5'], "value '1.5' is invalid for argument 'id'. It must be a whole number."],
    [['delete', '1'], 'cannot ask without a terminal: add --yes to delete the plant'],
    [
      ['delete', '007', '--yes'],
      "value '007' is invalid for argument 'id'. It must be a whole number.",
    ],
    [
      ['list', '--limit', '0'],
      "argument '0' is invalid. It must be a whole number from 1 to 999999999.",
    ],
    [['list', '--search', ''], 'It must not be empty.'],
    [['list', '--limit', '1000000000'], 'It must be a whole number from 1 to 999999999.'],
    [
      ['export', '--since', 'soon'],
      'must be a time such as 2026-11-01, 2026-11-01T09:30:00Z or 24h.',
    ],
    [['export', '--since', '2026-13-01'], 'It must be a time such as 2026-11-01'],
    [['export', '--format', 'xml'], 'Allowed choices are ndjson, csv.'],
    [['import', 'none.csv'], 'cannot read none.csv: check its name and its permissions'],
    [['import', '.', '--format', 'csv'], 'cannot read .: it is a directory, so name a file'],
    [['import', 'x.csv', '--delimiter', ';;'], 'It must be one character, such as ; or |, or the'],
    [['import', 'x.ndjson', '--delimiter', ';'], '--delimiter is for CSV: add --format csv'],
    [['import', 'plants.txt'], 'the format of plants.txt is unknown: add --format ndjson'],
    [
      ['import', 'package.json', '--format', 'csv', '--rejects', './package.json'],
      './package.json is the file to import: name another file with --rejects',
    ],
    [['token', 'revoke', 'nobody'], 'no access token has the name "nobody": plant-store token'],
    [['token', 'create', ''], 'invalid input: name must have 1 to 100 characters'],
    [
      ['token', 'create', 'x', '--scopes', 'write'],
      'It must be one or more of create, read, delete',
    ],
    [['completion', 'fish'], 'Allowed choices are bash, zsh.'],
  ])('%j', async (args, message) => {
    vi.stubEnv('DATABASE_URL', env.DATABASE_URL);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const program = await buildProgram(() => {});
    await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow(message);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it.each([
    [
      'Identifier;Name\n1;x\n',
      'id and name (tag is optional), but it has "Identifier", "Name": rename',
    ],
    [
      '1,x\n2,y\n',
      'but it has "1", "x": if the file starts with a row, insert the line id,name,tag',
    ],
    ['{"id":1,"name":"x"}\n', 'for NDJSON, add --format ndjson'],
    ['Id,Name,id\n1,x,1\n', 'the CSV header has the column "id" twice: rename or remove one'],
    ['id,name,"tag\n1,x,1\n', 'must have the columns id and name'],
    ['', 'the file is empty: a CSV file starts with the line id,name,tag'],
    ['\n\n', 'the file is empty'],
  ])('when a CSV file is %j', async (input, message) => {
    const args = ['import', '-', '--format', 'csv', '--rejects', join(tmpdir(), 'none')];
    const { code, stderr } = await run(args, { env, input });
    expect(stderr).toContain(message);
    expect(code).toBe(usage);
  });

  it('when the program cannot reach the database, and shows the cause with --verbose', async () => {
    const unreachable = { DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/plants' };
    const [short, long] = await Promise.all([
      run(['list'], { env: unreachable }),
      run(['list', '--verbose'], { env: unreachable }),
    ]);
    expect(short.stderr).toMatch(
      /^plant-store: nothing accepts connections there \(.*ECONNREFUSED.*\n$/,
    );
    expect(long.stderr).toMatch(
      /^plant-store: nothing accepts connections there \(.*\n(.*\n)*.* at /,
    );
    expect(short.stderr + long.stderr).not.toContain('hidden');
  });
});
