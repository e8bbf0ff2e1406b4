import { startPostgres } from '@plant-store/test-setup';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUser, migratedDatabase, useDatabase } from '../fixtures/database.ts';
import { startFollower } from '../fixtures/follower.ts';
import { run } from '../fixtures/run-program.ts';

const plantJson = /^\{"id":1,"name":"Hoya"/;

describe('a user with few privileges', () => {
  const database = useDatabase({ isShared: true, isMigrated: true });

  beforeEach(async () => {
    await database.sql`insert into plants (id, name) values (1, 'Hoya') on conflict do nothing`;
  });

  const userWith = (grants: string[]) =>
    createUser(database.sql, database.env.DATABASE_URL, grants);

  /** Runs a command as a new user with these privileges. */
  async function runAs(grants: string[], command: string) {
    const { user, env } = await userWith(grants);
    return { user, ...(await run(command.split(' '), { env })) };
  }

  it.each([
    ['get 1', ['select on plants'], plantJson],
    ['export', ['select on plants'], plantJson],
    ['token create Ann', ['insert on access_tokens'], /^plant_/],
    ['token revoke Ann --json', ['select, update on access_tokens'], /"name":"Ann"/],
    [
      'webhook create https://1.1.1.1/',
      ['select, insert on webhooks', 'select on plants, plant_deletions, plant_feed'],
      /^whsec_/,
    ],
    ['webhook pause 1.1.1.1', ['select, update on webhooks'], /"name":"1\.1\.1\.1"/],
    [
      'delete 1 --yes',
      ['select, delete on plants', 'insert on plant_deletions', 'select on plant_feed'],
      /^deleted the plant/,
    ],
  ])('%s needs only %j', async (command, grants, stdout) => {
    expect(await runAs(grants, command)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(stdout),
    });
  });

  it('follow needs only the privilege SELECT', async () => {
    const { env } = await userWith(['select on plants, plant_deletions, plant_feed']);
    const follower = startFollower(['--from', 'start'], { env });
    await follower.waitFor(1);
  });

  it.each([
    ['get 1', [], 'SELECT ON plants'],
    ['import ../../examples/houseplants.ndjson --rejects -', [], 'SELECT, INSERT ON plants'],
    ['delete 1 --yes', ['select, delete on plants, plant_feed'], 'INSERT ON plant_deletions'],
    ['follow', ['select on plants, plant_deletions'], 'SELECT ON plant_feed'],
    ['webhook list', ['select on plants'], 'SELECT ON webhooks'],
    ['token revoke Bob', ['select on access_tokens'], 'UPDATE ON access_tokens'],
  ])('%s names the privilege that is missing in %j', async (command, grants, missing) => {
    const { user, code, stderr } = await runAs(grants, command);
    expect(stderr).toContain(
      `a privilege is missing: run GRANT ${missing} TO ${user} (permission denied`,
    );
    expect(code).toBe(1);
  });

  it('doctor names the privileges that the server needs', async () => {
    const { user, stdout } = await runAs(['select on plants'], 'doctor');
    expect(stdout).toMatch(/^ok +tables +all tables have the columns/m);
    expect(stdout).toMatch(
      new RegExp(
        `^warning +privileges .* run GRANT SELECT, UPDATE ON webhooks TO ${user}; GRANT INSERT, DELETE ON plants TO ${user}; GRANT SELECT`,
        'm',
      ),
    );
  });
});

it('reading commands work on a read replica, and other commands need the primary', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  const sql = await migratedDatabase({ DATABASE_URL: primary.url });
  await sql`insert into plants (id, name) values (1, 'Hoya')`;
  await sql.end();
  const standby = await primary.startStandby();
  const env = { DATABASE_URL: standby.url };
  const outputs = await Promise.all(
    ['get 1', 'export', 'token list'].map((command) => run(command.split(' '), { env })),
  );
  expect(outputs).toMatchObject([
    { code: 0, stdout: expect.stringMatching(plantJson) },
    { code: 0, stdout: expect.stringMatching(plantJson) },
    { code: 0, stdout: '' },
  ]);
  const [deleted, follow, doctor] = await Promise.all([
    run(['delete', '1', '--yes'], { env }),
    run(['follow'], { env }),
    run(['doctor'], { env }),
  ]);
  for (const { code, stderr } of [deleted, follow]) {
    expect(stderr).toMatch(
      /^plant-store: the database accepts no writes .* connect to the primary/,
    );
    expect(code).toBe(1);
  }
  expect(doctor.stdout).toMatch(/^warning +connection .* is a read replica: get, list, count and/m);
  const both = primary.url.replace('@', `@${new URL(standby.url).host},`);
  await startFollower([], { env: { DATABASE_URL: both } }).waitFor(1);
  await standby.stop();
  await primary.stop();
});
