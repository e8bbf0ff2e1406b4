import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

let databaseUrl: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  server = await startOnPostgres(databaseUrl);
});

afterAll(() => server.stop());

const programs = [
  { language: 'TypeScript', needs: process.execPath, command: [process.execPath, 'add-plant.ts'] },
  ...(hasPosixShell ? [{ language: 'curl', needs: 'curl', command: ['./add-plant.sh'] }] : []),
  { language: 'Python', needs: 'python3', command: ['python3', 'add-plant.py'] },
].filter(({ needs }) => spawnSync(needs, ['--version']).status === 0);

describe.each(programs)('the $language program', ({ language, command: [file = '', ...args] }) => {
  const addPlant = (...plant: string[]) =>
    promisify(execFile)(file, [...args, ...plant], { env: server.env });

  it('creates and reads a plant exactly, and prints the same output after a repeated create', async () => {
    const id = 9007199254740993n + BigInt(programs.findIndex((each) => each.language === language));
    const [name, tag] = ['Monstera "Thai \\ Constellation" 🪴', 'Araceae'];
    for (const _ of ['first', 'again']) {
      const { stdout } = await addPlant(String(id), name, tag);
      const [created = '', stored = ''] = stdout.split('\n');
      expect(JSON.parse(created)).toEqual({ name, tag });
      expect(stored).toContain(`{"id":${id},`); // JSON.parse would round the id.
      expect(JSON.parse(stored)).toMatchObject({ name, tag, createdAt: expect.any(String) });
    }
    const sql = postgres(databaseUrl);
    expect([...(await sql`select name, tag from plants where id = ${String(id)}`)]).toEqual([
      { name, tag },
    ]);
    await sql.end();
  });

  it('creates a plant without a tag', async () => {
    const { stdout } = await addPlant('1', 'Ficus lyrata');
    const [created = '', stored = ''] = stdout.split('\n');
    expect(JSON.parse(created)).toEqual({ name: 'Ficus lyrata' });
    expect(JSON.parse(stored)).toEqual({
      id: 1,
      name: 'Ficus lyrata',
      createdAt: expect.any(String),
    });
  });

  it('prints the error to stderr when the plant is rejected', async () => {
    const result = await addPlant(String(2n ** 63n), 'Ficus lyrata').catch((error) => error);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(result.stderr.trim().split('\n').at(-1))).toEqual({
      error: 40001,
      message: expect.stringMatching(/^invalid input: id must be an integer/),
    });
  });
});
