import { execFile } from 'node:child_process';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasPosixShell } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { selectLogLength } from '../../src/embedded/checkpointer.ts';
import { markInUse } from '../../src/embedded/data-directory-state.ts';
import { PGliteConnection } from '../../src/embedded/pglite-connection.ts';
import { embedded } from '../fixtures/databases.ts';

let directory: string;
let remove: () => Promise<void>;
let connection: PGliteConnection;

beforeEach(async () => {
  const provided = await embedded.provide();
  directory = provided.options.dataDirectory;
  remove = provided.remove;
  connection = await PGliteConnection.open(directory);
  await connection.run({ text: 'create table numbers (number int)' });
});

afterEach(async () => {
  await connection.close();
  await remove();
});

const insert = { text: 'insert into numbers values (1)' };
const count = { text: 'select count(*)::int from numbers' };

const endless = { text: 'select count(*) from generate_series(1, 1e12)' };

it('stops a statement that does not end, and loses no committed row', async () => {
  await connection.run(insert);
  const failed = expect(connection.run(endless, 1_000)).rejects.toThrow(
    'the embedded database did not respond within 1000 ms, and is opened again',
  );
  const waiting = expect(connection.run(insert)).rejects.toThrow('is opened again');
  await Promise.all([failed, waiting]);

  await expect.poll(() => connection.run(count).catch(() => {})).toMatchObject({ rows: [[1]] });
  expect(await connection.run(insert)).toEqual({ rows: [], count: 1 });
});

it('does not create a new database when the files of the open database are missing', async () => {
  await markInUse(directory);
  await expect(connection.run(endless, 500)).rejects.toThrow('did not respond');
  await rename(join(directory, 'postgres'), join(directory, 'lost'));
  await expect
    .poll(() => connection.run(count).catch(String))
    .toContain('is damaged, postgres/PG_VERSION is missing');
  await rename(join(directory, 'lost'), join(directory, 'postgres'));
  await expect.poll(() => connection.run(count).catch(() => {})).toMatchObject({ rows: [[0]] });
});

// Windows cannot move a directory with open files.
it.runIf(hasPosixShell)('stops writing when the data directory is replaced', async () => {
  await cp(inject('dataDirectory'), `${directory} new`, { recursive: true });
  await rename(directory, `${directory} moved`);
  await rename(`${directory} new`, directory);
  const other = await PGliteConnection.open(directory);
  await other.run({ text: 'create table numbers (number int)' });
  const replaced = `the data directory ${directory} or the database in it was moved, deleted or replaced`;
  await expect(connection.run(insert)).rejects.toThrow(replaced);
  const again = () => connection.run(insert).catch(String);
  await expect.poll(again).toContain(`DataDirectoryError: ${replaced}`);
  expect(await other.run(count)).toMatchObject({ rows: [[0]] });
  await other.close();

  await rm(directory, { recursive: true });
  await rename(`${directory} moved`, directory);
  await expect.poll(() => connection.run(count).catch(() => {})).toMatchObject({ rows: [[0]] });
});

// Windows does not delete open files.
it.runIf(hasPosixShell)(
  'stops writing when the database is deleted, even when another database replaces it',
  async () => {
    await markInUse(directory);
    const postgres = join(directory, 'postgres');
    await rm(postgres, { recursive: true });
    const replaced = 'or the database in it was moved, deleted or replaced';
    await expect(connection.run(insert)).rejects.toThrow(replaced);
    const again = () => connection.run(insert).catch(String);
    await expect.poll(again).toContain('is damaged, postgres/PG_VERSION is missing');
    await cp(join(inject('dataDirectory'), 'postgres'), postgres, { recursive: true });
    await expect.poll(again).toContain(replaced);
  },
);

it('reports the SQLSTATE and the severity of an error', async () => {
  await expect(connection.run({ text: 'select 1 / 0' })).rejects.toMatchObject({
    code: '22012',
    severity: 'ERROR',
  });
  expect(await connection.run(count)).toMatchObject({ rows: [[0]] });
});

it('writes a checkpoint when the write-ahead log is long', async () => {
  const numberOf = async (text: string) => {
    const [row] = (await connection.run({ text })).rows;
    return (row as [number])[0]; // The cast is safe, because the statement selects one column.
  };
  const logLength = () => numberOf(selectLogLength);
  const written = `select (pg_current_wal_lsn() - '0/0')::float8`;
  const start = await numberOf(written);
  const switchSegment = `select pg_switch_wal() from pg_logical_emit_message(true, 'test', 'test')`;
  for (let i = 0; i < 10; i++) await connection.run({ text: switchSegment });
  expect((await numberOf(written)) - start).toBeGreaterThan(128 * 2 ** 20);
  const afterInsert = () => connection.run(insert).then(logLength);
  // After a checkpoint on a slow disk, up to two log segments of 16 MiB remain.
  await expect.poll(afterInsert).toBeLessThan(48 * 2 ** 20);
});

it('runs all earlier statements before the connection closes', async () => {
  const inserts = Array.from({ length: 20 }, () => connection.run(insert));
  await connection.close();
  expect(await Promise.all(inserts)).toHaveLength(20);
  await expect(connection.run(insert)).rejects.toThrow('the embedded database is closed');
  connection = await PGliteConnection.open(directory);
  expect(await connection.run(count)).toMatchObject({ rows: [[20]] });
});

it('keeps the process alive only while a statement runs', async () => {
  await connection.close();
  const source = `
    import { openEmbeddedDatabase } from ${JSON.stringify(new URL('../../src/embedded/embedded-database.ts', import.meta.url).href)};
    const database = await openEmbeddedDatabase(${JSON.stringify(directory)});
    await database.write('insert into numbers select generate_series(1, 1000)', [], {
      share: 'creates',
      deadline: performance.now() + 60_000,
    });
    console.log('inserted');`;
  const flags = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(stdout).toBe('inserted\n');
  connection = await PGliteConnection.open(directory);
  expect(await connection.run(count)).toMatchObject({ rows: [[1000]] });
});

// Windows has no limit of file descriptors.
it.runIf(hasPosixShell).each([30, 48])(
  'says that the process needs more file descriptors when the limit is %d',
  async (limit) => {
    await connection.close();
    const program = `
      import { openPlantStore } from './src/plant-store.ts';
      await openPlantStore({ dataDirectory: process.argv[1] }).catch(({ message }) => console.log(message));`;
    const node = [process.execPath, '--input-type=module', '--eval', program, directory];
    const withLimit = ['-c', `ulimit -n ${limit} && exec "$@"`, 'sh', ...node];
    const { stdout } = await promisify(execFile)('sh', withLimit);
    connection = await PGliteConnection.open(directory);
    expect(stdout).toMatch(
      /^the database in .* cannot be opened \(.*EMFILE.*\): raise the limit of file descriptors \(ulimit -n\)\n$/,
    );
  },
);
