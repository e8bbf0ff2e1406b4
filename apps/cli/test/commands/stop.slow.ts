import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { hasPosixSignals } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { main, start, startInShell } from '../fixtures/run-program.ts';

/** So many plants that `export --paged` needs several pages. */
const count = 200_000;

const database = useDatabase({ isShared: true, isMigrated: true });
const { env } = database;

beforeAll(async () => {
  await database.sql`insert into plants (id, name) select id, 'plant' from generate_series(1, ${count}::int) as id`;
});

async function runInShell(script: string): Promise<{ stdout: string; stderr: string }> {
  const { stdout, stderr } = await startInShell(script, { env }).result;
  return { stdout: stdout.trim(), stderr };
}

describe.runIf(hasPosixSignals)('on a system with pipes', () => {
  it.each(['', '--gzip', '--format csv --paged'])(
    'writes all plants to a slow reader, with export %s',
    async (options) => {
      const unpacked = options === '--gzip' ? 'gunzip | ' : '';
      const lines = count + (options.includes('csv') ? 1 : 0);
      const script = `"$@" export ${options} | (sleep 1; ${unpacked}wc -l)`;
      expect(await runInShell(script)).toEqual({ stdout: String(lines), stderr: '' });
    },
  );

  it.each([
    ...['export | true', 'list --limit 200000 | true'],
    // No plant changes, so `follow` must notice the closed pipe without writing a second line.
    'follow | head -n 1 > /dev/null',
  ])('exits with code 0 when the reader closes the pipe: %s', async (pipeline) => {
    const [command, reader] = pipeline.split(' | ');
    const script = `{ { "$@" ${command}; echo $? >&3; } | ${reader}; } 3>&1`;
    expect(await runInShell(script)).toEqual({ stdout: '0', stderr: '' });
  });

  it('imports the whole file when the reader of standard error closes the pipe', async () => {
    const plants = `seq ${count} | sed 's/.*/{"id":&,"name":"plant"}/'`;
    const script = `${plants} | { { "$@" import - --json 2>&1 >&3; echo $? >&3; } | true; } 3>&1`;
    const [summary = '', code] = (await runInShell(script)).stdout.split('\n');
    expect(JSON.parse(summary)).toMatchObject({ exists: count, isComplete: true });
    expect(code).toBe('0');
  });

  it.each([
    ...['export', 'export --paged', 'list', 'follow --from start --json'],
    ...['import - --rejects /dev/null', 'delete 1 --yes', 'feed off --yes'],
  ])('exits after SIGTERM while a statement waits for a lock: %s', async (command) => {
    const sql = postgres(env.DATABASE_URL, { max: 1 });
    onTestFinished(() => sql.end());
    await sql`begin`;
    await sql`lock table plants, access_tokens, plant_feed in access exclusive mode`;
    const { child, result } = start(command.split(' '), { env });
    child.stdin.end('{"id":1,"name":"plant"}\n');
    const waiting = () => sql`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and not granted`;
    await vi.waitFor(async () => expect(await waiting()).not.toHaveLength(0));
    child.kill('SIGTERM');
    const { code, stdout } = await result;
    expect([143, 'SIGTERM']).toContain(code);
    expect(stdout).not.toContain('error');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('exits after %s while nobody reads the output', async (signal, code) => {
    const child = spawn(process.execPath, [main, 'export', '--paged'], {
      env: { PATH: process.env['PATH'], PLANT_STORE_ENV_FILE: '/dev/null', ...env },
    });
    const errors = text(child.stderr);
    await once(child.stdout, 'readable');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([code, null]);
    expect(await errors).toContain('plant-store: interrupted: the output is incomplete');
  });
});
