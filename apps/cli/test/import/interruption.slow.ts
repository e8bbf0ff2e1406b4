import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { plantLines, useDirectory } from '../fixtures/plant-files.ts';
import { run, start } from '../fixtures/run-program.ts';

/** An import needs several statements for this number of rows. */
const count = 30_000;

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

/** Starts an import, and waits until the import has stored some rows and needs more input. */
async function startHalfOfImport() {
  const args = ['import', '-', '--json', '--rejects', directory.path('rejects')];
  const started = start(args, { env });
  started.child.stdin.write([...plantLines(count / 2)].join(''));
  const { sql } = database;
  await vi.waitFor(async () => expect(await sql`select from plants limit 1`).toHaveLength(1));
  return { ...started, sql };
}

it('completes a killed import when the import runs again', async () => {
  const { child, result, sql } = await startHalfOfImport();
  child.kill('SIGKILL');
  await result;

  const file = await directory.write('plants.ndjson', [...plantLines(count)].join(''));
  const { stdout } = await run(['import', file, '--json'], { env });
  const { exists, created, ...rest } = JSON.parse(stdout);
  expect(rest).toMatchObject({ rows: count, conflicts: 0, rejected: 0, isComplete: true });
  expect(exists).toBeGreaterThan(0);
  expect(created).toBe(count - exists);
  expect(await sql`select count(*)::int from plants`).toEqual([{ count }]);
});

it.runIf(hasPosixSignals).each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('writes the summary when %s interrupts the import', async (signal, exitCode) => {
  const { child, result, sql } = await startHalfOfImport();
  child.kill(signal);
  const { code, stdout, stderr } = await result;
  expect(code).toBe(exitCode);
  const [stored] = await sql`select count(*)::int as created from plants`;
  expect(JSON.parse(stdout)).toMatchObject({ ...stored, isComplete: false });
  expect(stderr).toContain('plant-store: interrupted: run the import again to complete it\n');
});

it.runIf(hasPosixSignals).each(['without a writer', 'with an idle writer'])(
  'exits after SIGTERM while the import waits for a named pipe %s',
  async (writer) => {
    const pipe = directory.path('pipe.ndjson');
    execFileSync('mkfifo', [pipe]);
    if (writer === 'with an idle writer') {
      const file = await open(pipe, 'r+');
      onTestFinished(() => file.close());
    }
    const { code, stderr } = await stopImport(pipe, 250);
    expect(code).toBe(143);
    expect(stderr).toContain('plant-store: interrupted: run the import again to complete it\n');
  },
);

/**
 * Sends SIGTERM to an import after a pause. The program prints nothing before it reads the pipe. If the signal
 * arrives before the program handles signals, the next attempt has a longer pause.
 */
async function stopImport(file: string, pause: number): ReturnType<typeof run> {
  const { child, result } = start(['import', file], { env });
  await setTimeout(pause);
  child.kill('SIGTERM');
  return (await result).code === 'SIGTERM' ? stopImport(file, 2 * pause) : result;
}
