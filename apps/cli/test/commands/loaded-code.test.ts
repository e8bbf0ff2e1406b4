import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

/** Prints the address of each module that the program loads. */
const printModules = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, nextLoad) {
      process.stderr.write(url + '\\n');
      return nextLoad(url, context);
    },
  });`)}`;

const database = useDatabase({ isShared: true, isMigrated: true });
const { env } = database;

it.each(['list', 'count', 'get 1'])('%s loads no code of other commands', async (command) => {
  await database.sql`insert into plants (id, name) values (1, 'Hoya') on conflict do nothing`;
  const result = await run(command.split(' '), { env, node: ['--import', printModules] });
  expect(result.code).toBe(0);
  expect(result.stderr).toContain('/postgres/src/');
  expect(result.stderr).not.toMatch(
    /\/zod\/|\/embedded-database|\/migrator|\/cli-progress\/|node:sqlite|\/superjson\/|\/@modelcontextprotocol\//,
  );
});

it('--version loads no command', async () => {
  const result = await run(['--version'], { node: ['--import', printModules] });
  expect(result.code).toBe(0);
  expect(result.stderr).not.toMatch(/\/commands\/|packages\/core/);
});
