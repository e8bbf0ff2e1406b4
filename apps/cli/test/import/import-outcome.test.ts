import { readFile, stat } from 'node:fs/promises';
import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { type ImportOptions, importFile } from '../../src/import/import-file.ts';
import { rejectsOf, useDirectory } from '../fixtures/plant-files.ts';

// These tests import in their own process, so that `npx -y pnpm mutants` can change the code.
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

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const hoya = '{"id":1,"name":"Hoya"}\n';
const other = '{"id":1,"name":"Ficus"}\n';
const invalid = '{"id":"x","name":"Pilea"}\n';

async function load(lines: string, options: Partial<ImportOptions> = {}) {
  const file = await directory.write('plants.ndjson', lines);
  return importFile(file, { onConflict: 'report', ...options });
}

const exists = (path: string) => stat(path).then(Boolean, () => false);

async function storedNames() {
  const store = await openPlantStore({ databaseUrl });
  const { plants } = await store.list({ limit: 10 });
  await store.close();
  return plants.map(({ name }) => name);
}

describe('an import is complete', () => {
  it('when every row is stored', async () => {
    expect(await load(hoya)).toBe(true);
    expect(output.stdout).toContain('1 rows: 1 created');
    expect(output.stderr).toContain('100%, 1 rows');
    expect(await storedNames()).toEqual(['Hoya']);
  });

  it('when conflicts are skipped, which then are not in the rejects file', async () => {
    expect(await load(hoya + other, { onConflict: 'skip' })).toBe(true);
    expect(await exists(rejectsOf(directory.path('plants.ndjson')))).toBe(false);
  });

  it('when conflicts are skipped, even with --strict', async () => {
    expect(await load(hoya + other, { onConflict: 'skip', strict: true })).toBe(true);
  });
});

describe('an import is incomplete', () => {
  it('when a row is in conflict', async () => {
    expect(await load(hoya + other)).toBe(false);
    expect(await readFile(rejectsOf(directory.path('plants.ndjson')), 'utf8')).toContain('Ficus');
  });

  it('when a row is rejected', async () => {
    expect(await load(hoya + invalid)).toBe(false);
    expect(await load(hoya + invalid, { onConflict: 'skip' })).toBe(false);
    expect(await readFile(rejectsOf(directory.path('plants.ndjson')), 'utf8')).toContain('Pilea');
  });
});

describe('an import stops', () => {
  const message =
    'line 2: id 1 belongs to another plant: choose an id that is free; the import stopped: ' +
    '1 rows of lines 1 to 2 are stored, and 0 were before; correct the line, then run the import again';

  it.each([
    ['with --on-conflict fail', { onConflict: 'fail' }],
    ['with --strict', { strict: true }],
  ] as const)('at a conflict %s', async (_, options) => {
    const stopped = load(hoya + other, options);
    await expect(stopped).rejects.toMatchObject({ message, exitCode: 3 });
    expect(output.stdout).toContain('2 rows: 1 created, 0 existed, 1 conflicts, 0 rejected');
  });

  it('at an invalid row with --strict, and not with --on-conflict fail', async () => {
    const strict = load(invalid, { strict: true });
    await expect(strict).rejects.toMatchObject({
      message: expect.stringMatching(/^line 1: invalid input: id .* the import stopped/),
      exitCode: 3,
    });
    expect(await load(invalid, { onConflict: 'fail' })).toBe(false);
  });

  it('with a hint when the database is down', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1:1/none');
    await expect(load(hoya)).rejects.toMatchObject({
      message: expect.stringMatching(/; then run the import again to complete it$/),
      cause: expect.objectContaining({ kind: 'databaseUnavailable' }),
    });
  });

  it('before it begins when the rejects file is the file itself', async () => {
    const rejects = await directory.write('plants.ndjson', hoya);
    await expect(load(hoya, { rejects })).rejects.toMatchObject({
      message: `${rejects} is the file to import: name another file with --rejects`,
      exitCode: 2,
    });
  });

  it('without a hint at a file that is not text', async () => {
    await expect(load('\0\0\0')).rejects.toMatchObject({
      message: expect.not.stringContaining('run the import again'),
      exitCode: 2,
    });
  });
});

describe('an import writes', () => {
  it('no summary with --quiet, except as JSON', async () => {
    await load(hoya, { quiet: true });
    expect(output).toEqual({ stdout: '', stderr: '' });
    await load(hoya, { quiet: true, json: true });
    expect(JSON.parse(output.stdout)).toMatchObject({
      rows: 1,
      exists: 1,
      isComplete: true,
    });
  });

  it('the rejected rows to standard output with --rejects -, and the summary to standard error', async () => {
    await load(hoya + invalid, { rejects: '-' });
    expect(output.stdout).toMatch(/^\{"line":2,.*"Pilea"\}\n$/);
    expect(output.stderr).toContain('2 rows: 1 created');
  });

  it('that an import which stopped is not complete', async () => {
    await load(invalid, { strict: true, json: true }).catch(() => {});
    expect(JSON.parse(output.stdout)).toMatchObject({ isComplete: false, rejected: 1 });
  });

  it('what a dry run has checked, and stores nothing', async () => {
    expect(await load(hoya + invalid, { dryRun: true, json: true })).toBe(false);
    expect(JSON.parse(output.stdout)).toMatchObject({ valid: 1, rejected: 1 });
    expect(await storedNames()).toEqual([]);
  });
});
