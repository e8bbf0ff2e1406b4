import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { migratedDatabase } from '../fixtures/migrated-database.ts';
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

it.each(['get 1', 'list', 'count'])('%s loads only the code that it needs', async (command) => {
  const env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
  const sql = await migratedDatabase(env);
  await sql`insert into plants (id, name) values (1, 'Hoya')`;
  await sql.end();
  const result = await run(command.split(' '), { env, node: ['--import', printModules] });
  expect(result.code).toBe(0);
  expect(result.stderr).toContain('/postgres/src/');
  expect(result.stderr).not.toMatch(
    /\/zod\/|\/embedded-database|\/migrator|\/cli-progress\/|node:sqlite|\/superjson\//,
  );
});

it('--version loads no command', async () => {
  const result = await run(['--version'], { node: ['--import', printModules] });
  expect(result.code).toBe(0);
  expect(result.stderr).not.toMatch(/\/commands\/|packages\/core/);
});
