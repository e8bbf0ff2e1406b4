import { openPlantStore } from '@plant-store/core';
import { expect, it } from 'vitest';
import { createUser, embeddedDatabase, useDatabase } from '../fixtures/database.ts';
import { startFollower } from '../fixtures/follower.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { hasTerminals, run, runOnTerminal } from '../fixtures/run-program.ts';

const directory = useDirectory();
const database = useDatabase({ isMigrated: true });
const { env } = database;

const said = (stdout: string) => ({ code: 0, stdout, stderr: '' });

it('switches the feed off: a running follow ends, and earlier cursors become invalid', async () => {
  const follower = startFollower([], { env });
  const [line] = await follower.waitFor(1);
  const feed = (...args: string[]) => run(['feed', ...args], { env });
  expect(await feed('on')).toEqual(said('the feed of changes is on, as before\n'));
  expect(await feed('off', '--yes')).toEqual(said('the feed of changes is off\n'));
  expect(await feed('off', '--yes')).toEqual(said('the feed of changes is off, as before\n'));
  expect(await follower.result).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'plant-store: the feed of changes is switched off: the operator switches it on with `plant-store feed on`\n',
    ),
  });
  expect(await feed('on')).toEqual(said('the feed of changes is on\n'));
  const again = await run(['follow', '--from', String(line?.cursor)], { env });
  expect(again.stderr).toBe(
    'plant-store: the database was replaced: empty your copy, and list the plants again with follow --from start\n',
  );
  expect(again.code).toBe(1);
});

it('switches the feed of an embedded database off and on', async () => {
  const dataDirectory = directory.path('store');
  const embedded = { env: await embeddedDatabase(dataDirectory) };
  await (await openPlantStore({ dataDirectory })).close();
  const off = await run(['feed', 'off', '--yes'], embedded);
  expect(off).toEqual(said('the feed of changes is off\n'));
  expect(await run(['feed', 'on'], embedded)).toEqual(said('the feed of changes is on\n'));
});

it.runIf(hasTerminals)('keeps the feed on when the user does not confirm', async () => {
  const { code, stdout } = await runOnTerminal(['feed', 'off'], { env, input: 'n\n' });
  expect(stdout).toContain('plant-store: the feed of changes is still on');
  expect(code).toBe(1);
  expect((await run(['feed', 'on'], { env })).stdout).toContain('as before');
});

it('says that only the owner of the tables can switch the feed', async () => {
  const grants = ['all on all tables in schema public'];
  const user = await createUser(database.sql, env.DATABASE_URL, grants);
  const { code, stderr } = await run(['feed', 'off', '--yes'], { env: user.env });
  expect(stderr).toMatch(
    /^plant-store: only the owner of the tables can switch the feed \(must be owner of table plants\): use a/,
  );
  expect(code).toBe(1);
});
