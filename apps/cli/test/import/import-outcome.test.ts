import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { type ImportOptions, importFile } from '../../src/import/import-file.ts';
import { rejectsOf, useDirectory } from '../fixtures/plant-files.ts';

// `npx -y pnpm mutants` changes code only in the test process, so the import runs in the test process.
const directory = useDirectory();
let output: Record<'stdout' | 'stderr', string>;
let databaseUrl: string;

beforeEach(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  vi.stubEnv('DATABASE_URL', databaseUrl);
  vi.stubEnv('PLANT_STORE_ENV_FILE', '/dev/null');
  output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      output[name] += String(text);
      for (const done of rest) if (typeof done === 'function') done();
      return true;
    });
  }
});

// An import never removes its listeners for signals, so the tests remove these listeners.
const listeners = process.listeners('SIGINT');

afterEach(() => {
  process.removeAllListeners('SIGINT');
  for (const listener of listeners) process.on('SIGINT', listener);
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const hoya = '{"id":1,"name":"Hoya"}\n';
const other = '{"id":1,"name":"Ficus"}\n';
const invalid = '{"id":"x","name":"Pilea"}\n';

async function load(
  lines: string | Buffer,
  options: Partial<ImportOptions> = {},
  name = 'plants.ndjson',
) {
  const file = await directory.write(name, lines);
  return importFile(file, { onConflict: 'report', ...options });
}

/** Returns rows that fill more than two blocks of 1 MiB. */
function manyRows(): string {
  const space = ' '.repeat(1024);
  const rows = Array.from({ length: 2100 }, (_, i) => `{"id":${i + 10},${space}"name":"Aloe"}\n`);
  return rows.join('');
}

function useAsStdin(input: Readable) {
  // The cast is safe, because an import only reads this stream.
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as typeof process.stdin);
}

const exists = (path: string) => stat(path).then(Boolean, () => false);

async function storedNames() {
  const store = await openPlantStore({ databaseUrl });
  const { plants } = await store.list({ limit: 10 });
  await store.close();
  return plants.map(({ name }) => name);
}

describe('complete imports', () => {
  it('completes an import when every row is stored', async () => {
    expect(await load(hoya)).toBe(true);
    expect(output.stdout).toContain('1 rows: 1 created');
    expect(output.stderr).toContain('100%, 1 rows');
    expect(await storedNames()).toEqual(['Hoya']);
  });

  it.each([
    ['NDJSON', 'plants.ndjson', hoya + other, {}],
    ['NDJSON with --strict', 'plants.ndjson', hoya + other, { strict: true }],
    ['CSV', 'plants.csv', 'id,name\n1,Hoya\n1,Ficus\n', {}],
  ] as const)(
    'completes an import and lists nothing when conflicts are skipped: %s',
    async (_, name, lines, options) => {
      expect(await load(lines, { onConflict: 'skip', ...options }, name)).toBe(true);
      expect(await exists(rejectsOf(directory.path(name)))).toBe(false);
    },
  );
});

describe('incomplete imports', () => {
  it('returns false when a row is rejected, even when conflicts are skipped', async () => {
    expect(await load(hoya + invalid, { onConflict: 'skip' })).toBe(false);
    expect(await readFile(rejectsOf(directory.path('plants.ndjson')), 'utf8')).toContain('Pilea');
  });

  it('lists a row in conflict and a rejected row', async () => {
    expect(await load(hoya + other + invalid)).toBe(false);
    const list = await readFile(rejectsOf(directory.path('plants.ndjson')), 'utf8');
    expect(list).toMatch(/^\{"line":2,.*\}\n\{"line":3,.*\}\n$/);
  });
});

describe('stopped imports', () => {
  const stopAtConflict = [
    ['with --on-conflict fail', { onConflict: 'fail' }],
    ['with --strict', { strict: true }],
  ] as const;
  const message =
    'line 2: id 1 belongs to another plant: choose an id that is free; the import stopped: ' +
    '1 rows of lines 1 to 2 are stored, and 0 were stored before; correct the line, then run the import again';

  it.each(stopAtConflict)('stops the import at a conflict %s', async (_, options) => {
    await expect(load(hoya + other, options)).rejects.toMatchObject({ message, exitCode: 3 });
    expect(output.stdout).toContain('2 rows: 1 created, 0 existed, 1 conflicts, 0 rejected');
  });

  it.each(stopAtConflict)(
    'stores exactly the rows that the summary reports %s',
    async (_, options) => {
      const input = createReadStream(
        await directory.write('plants.ndjson', hoya + other + manyRows()),
      );
      useAsStdin(input);
      const sql = postgres(databaseUrl, { max: 1 });
      const isIdle = async () => {
        const [row] = await sql`select count(*)::int as active from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;
        return row?.['active'] === 0;
      };
      // This write lasts until all statements have ended, so that the test sees every stored row.
      vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
        output.stdout += String(text);
        void vi
          .waitUntil(async () => input.closed && (await isIdle()), 60_000)
          .then(() => process.stdout.emit('drain'));
        return false;
      });
      const rejects = directory.path('rejects');
      const stopped = importFile('-', { onConflict: 'report', rejects, ...options });
      await expect(stopped).rejects.toMatchObject({ exitCode: 3 });
      const [row] = await sql`select count(*) from plants`;
      await sql.end();
      expect(output.stdout).toContain(` rows: ${row?.['count']} created`);
    },
  );

  it('stops the import at a signal, and says how to complete the import', async () => {
    // The cast is safe, because no code uses the result of `exit`.
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const stopped = load(manyRows());
    const rejected = expect(stopped).rejects.toMatchObject({
      message: 'interrupted: run the import again to complete it',
      exitCode: 130,
    });
    await vi.waitFor(() =>
      expect(process.listenerCount('SIGINT')).toBeGreaterThan(listeners.length),
    );
    process.emit('SIGINT');
    await rejected;
    await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(130));
  });

  it('stops the import at an invalid row with --strict, but not with --on-conflict fail', async () => {
    const strict = load(invalid, { strict: true, json: true });
    await expect(strict).rejects.toMatchObject({
      message: expect.stringMatching(/^line 1: invalid input: id .* the import stopped/),
      exitCode: 3,
    });
    expect(JSON.parse(output.stdout)).toMatchObject({ isComplete: false, rejected: 1 });
    expect(await load(invalid, { onConflict: 'fail' })).toBe(false);
  });

  it('says how to complete the import when the database is down, and does not wait for more input', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1:1/none');
    const input = new PassThrough();
    useAsStdin(input);
    input.write(manyRows());
    const rejects = directory.path('rejects');
    const stopped = importFile('-', { onConflict: 'report', rejects });
    await expect(stopped).rejects.toMatchObject({
      message: expect.stringMatching(/; then run the import again to complete it$/),
      cause: expect.objectContaining({ kind: 'databaseUnavailable' }),
    });
    expect(input.destroyed).toBe(true);
  });

  it('does not accept the imported file as the rejects file', async () => {
    const rejects = await directory.write('plants.ndjson', hoya);
    await expect(load(hoya, { rejects })).rejects.toMatchObject({
      message: `${rejects} is the file to import: name another file with --rejects`,
      exitCode: 2,
    });
  });

  it.each([
    ['bytes that are not text', 'a.ndjson', '\0\0\0', 'is not text'],
    [
      'UTF-16',
      'a.csv',
      Buffer.from('id;name\r\n1;Efeu\r\n', 'utf16le'),
      'add --encoding utf-16le or utf-16',
    ],
    ['Latin-1', 'a.csv', Buffer.from('id;name;größe\n', 'latin1'), 'add --encoding latin1'],
    ['CSV as NDJSON', 'a.ndjson', 'id;name\r\n1;Efeu\r\n', 'the file is CSV: add --format csv'],
    ['NDJSON as CSV', 'a.csv', '{"id":1,"name":"x"}\n', 'for NDJSON, add --format ndjson'],
  ])('rejects %s, and gives a hint', async (_, name, content, hint) => {
    const error = await load(content, {}, name).catch((thrown) => thrown);
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(hint) });
    expect(error.message).not.toContain('run the import again');
  });
});

describe('the output of an import', () => {
  it('writes no summary with --quiet, except as JSON', async () => {
    await load(hoya, { quiet: true });
    expect(output).toEqual({ stdout: '', stderr: '' });
    const started = performance.now();
    await load(hoya, { quiet: true, json: true });
    const { seconds, ...summary } = JSON.parse(output.stdout);
    expect(summary).toMatchObject({ rows: 1, exists: 1, isComplete: true });
    expect(seconds).toBeLessThanOrEqual(Math.ceil(performance.now() - started) / 1_000);
  });

  it('writes the rejected rows to standard output with --rejects -', async () => {
    await load(hoya + invalid, { rejects: '-' });
    expect(output.stdout).toMatch(/^\{"line":2,.*"Pilea"\}\n$/);
    expect(output.stderr).toContain('2 rows: 1 created');
  });

  it('writes the counts of a dry run, without a database', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1:1/none');
    expect(await load(hoya + invalid, { dryRun: true, json: true })).toBe(false);
    expect(JSON.parse(output.stdout)).toMatchObject({ isDryRun: true, valid: 1, rejected: 1 });
  });
});
