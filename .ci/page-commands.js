/** Maps the start of each command in our Markdown files to the test or script that runs this command. */
export const runBy = {
  'npx -y pnpm install': '.ci/try-start.mjs',
  'npx -y pnpm start': '.ci/try-start.mjs',
  'npx -y pnpm check': '.ci/run',
  'npx -y pnpm test': '.ci/run',
  'npx -y pnpm test:slow': '.ci/run',
  'npx -y pnpm test:packed': '.ci/run',
  'npx -y pnpm test:versions': '.ci/run',
  'npx -y pnpm test:faults': '.ci/run',
  'npx -y pnpm test:histories': '.ci/run',
  'npx -y pnpm test:outages': 'package.json',
  'npx -y pnpm --filter @plant-store/core test': 'packages/core/package.json',
  'npx -y pnpm release': 'examples/packed/release-copy.ts',
  'npx @plant-store/server': 'examples/packed/packages.test.ts',
  'npx @plant-store/cli': 'examples/packed/packages.test.ts',
  'npm install': 'examples/packed/run.ts',
  curl: 'examples/readme.test.ts',
  'examples/rest/add-plant.sh': 'examples/rest/add-plant.test.ts',
  'python3 examples/rest/add-plant.py': 'examples/rest/add-plant.test.ts',
  'npx -y pnpm exec node examples/rest/add-plant.ts': 'examples/rest/add-plant.test.ts',
  'plant-store import': 'apps/cli/test/import/import-outcome.test.ts',
  'plant-store export': 'apps/cli/test/commands/export.slow.ts',
  'plant-store follow': 'apps/cli/test/commands/follow.slow.ts',
  'plant-store token create': 'apps/cli/test/commands/token.test.ts',
  'plant-store token list': 'apps/cli/test/commands/token.test.ts',
  'plant-store token revoke': 'apps/cli/test/commands/token.test.ts',
  'plant-store webhook create': 'apps/cli/test/commands/webhook.slow.ts',
  'plant-store webhook show': 'apps/cli/test/commands/webhook.slow.ts',
  'plant-store doctor': 'apps/cli/test/doctor/run-checks.test.ts',
  'plant-store distribute': 'apps/cli/test/citus/command-line.citus.ts',
  'plant-store mcp': 'apps/cli/test/fixtures/assistant.ts',
  'plant-store help': 'apps/cli/test/program.test.ts',
};

const newcomer = 'only changes the shell of the reader';
const debugs = 'waits for a debugger';
const measures = 'takes minutes; its parts have tests';
const writes = 'writes files of the repository; `check` compares them';
const releases = 'reads or changes the registry';

/** The commands in our Markdown files that no test runs, each with the reason. */
export const notRun = {
  '.ci/run': 'runs the tests itself',
  'npx -y pnpm bench': measures,
  'npx -y pnpm mutants': measures,
  'npx -y pnpm test:citus': 'needs an installed Citus',
  'npx -y pnpm exec node --inspect': debugs,
  'npx -y pnpm --filter @plant-store/core exec vitest': debugs,
  'npx -y pnpm migrations': writes,
  'npx -y pnpm openapi': writes,
  'npx -y pnpm --filter @plant-store/example-rest generate': writes,
  'npx -y pnpm changeset': releases,
  'npm login': releases,
  'git push': releases,
  'npx -y pnpm --filter @plant-store/web dev':
    'runs until it is stopped; a test opens the built console',
  'npx -y pnpm --filter @plant-store/example-front-end dev':
    'runs until it is stopped; a test opens the built page',
  'export PLANT_STORE_TOKEN=$(cat .plant-store/token)': newcomer,
  pg_dump: 'a program of Postgres, which the Postgres of the tests does not have',
  pg_restore: 'a program of Postgres, which the Postgres of the tests does not have',
};
