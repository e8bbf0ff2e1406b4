import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hasTerminals, run, startOnTerminal } from '../fixtures/run-program.ts';

describe.runIf(hasTerminals)('a DATABASE_URL without a password', () => {
  let sql: postgres.Sql;
  let env: { DATABASE_URL: string };

  beforeAll(async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    sql = postgres(databaseUrl, { onnotice() {} });
    await sql.unsafe(`
      create role with_password;
      create role gardener login superuser in role with_password password 'right&=%'`);
    env = { DATABASE_URL: Object.assign(new URL(databaseUrl), { username: 'gardener' }).href };
  });

  afterAll(async () => {
    await sql`drop owned by gardener cascade`;
    await sql`drop role gardener, with_password`;
    await sql.end();
  });

  /** Runs a command that asks for the password, and types `typed` as the password. */
  function answer(typed: string) {
    const { child, result } = startOnTerminal(['token', 'create', 'me'], { env });
    let shown = '';
    child.stdout.on('data', (text) => {
      shown += text;
      if (shown.endsWith('gardener: ')) child.stdin.end(typed);
    });
    return result;
  }

  it('asks for the password on a terminal, and hides the password', async () => {
    const { code, stdout } = await answer('right&=%\r');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Password for the database user gardener: \r\n.*\r\nplant_[\w-]{43}\r\n/,
    );
  });

  it('creates no token when the password is wrong', async () => {
    const { code, stdout } = await answer('wrong\r');
    expect(code).toBe(1);
    expect(stdout).toContain('password authentication failed for user "gardener"): check the user');
    expect(stdout).not.toContain('wrong');
  });

  it('creates no token after Ctrl+C', async () => {
    const { code, stdout } = await answer('\x03');
    expect(code).toBe(130);
    expect(stdout).toContain('plant-store: interrupted');
  });

  it('does not ask for the password without a terminal', async () => {
    const { code, stderr } = await run(['token', 'create', 'me'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^plant-store: the database cannot be used \(password authentication/);
  });
});
