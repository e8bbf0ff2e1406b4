/**
 * The areas whose mutants the tests must catch: small changes of the code that Stryker makes.
 * `npx -y pnpm mutants` runs one area after the other, and compares the mutants that survive with
 * `mutants.baseline.json`.
 *
 * `mutate` names the files that Stryker changes, and `tests` the tests that must fail. These tests run
 * the code in their own process, because a process that a test starts does not see the mutants.
 *
 * No area has `packages/core/src/cluster`: its tests need an installed Citus.
 */
export const areas = {
  json: {
    mutate: ['packages/schemas/src/json/*.ts'],
    tests: ['packages/schemas/test/json/*.test.ts'],
  },
  schemas: {
    mutate: ['packages/schemas/src/{ids/*,plant,stored-plant,scopes}.ts'],
    tests: ['packages/schemas/test/**/*.test.ts'],
  },
  transformer: {
    mutate: ['packages/core/src/procedures/transformer.ts'],
    tests: ['packages/core/test/procedures/transformer.test.ts'],
  },
  'access-tokens': {
    mutate: [
      'packages/core/src/access-tokens/**/*.ts',
      'packages/core/src/database/queues/look-ups.ts',
    ],
    tests: [
      'packages/core/test/access-tokens/**/*.test.ts',
      'packages/core/test/database/queues/look-ups.test.ts',
    ],
  },
  authentication: {
    mutate: ['apps/api/src/auth/{authentication,authentication-limit,static-tokens}.ts'],
    tests: [
      // The first, because it mocks a module that the others import, too.
      'apps/api/test/auth/static-tokens.test.ts',
      'apps/api/test/auth/{authentication,authentication-limit}.test.ts',
    ],
  },
  jwt: {
    mutate: ['apps/api/src/auth/{jwt,identity-provider-keys}.ts'],
    tests: ['apps/api/test/auth/{identity-provider-keys,jwt,forged-jwt,who-am-i}.test.ts'],
  },
  'write-path': {
    mutate: [
      'packages/core/src/plants/*.ts',
      'packages/core/src/database/queues/{call,coalescer}.ts',
    ],
    tests: [
      'packages/core/test/plants/*.test.ts',
      'packages/core/test/database/queues/coalescer.test.ts',
      'packages/core/test/cluster/node-turns.test.ts',
      'packages/core/test/plant-store.test.ts',
    ],
  },
  pool: {
    mutate: ['packages/core/src/database/{connection-pool,queues/turns}.ts'],
    tests: [
      'packages/core/test/database/{connection-pool,queues/turns}.test.ts',
      'packages/core/test/database/postgres/postgres-database.test.ts',
    ],
  },
  connections: {
    mutate: [
      'packages/core/src/database/postgres/{connection,prepared-statements,cancel-request,copy}.ts',
      'packages/core/src/database/postgres/{connect-to-primary,use-postgres}.ts',
    ],
    tests: [
      'packages/core/test/database/postgres/{connection,use-postgres}.test.ts',
      'packages/core/test/database/postgres/connect-to-primary.test.ts',
    ],
  },
  tls: {
    mutate: ['packages/core/src/database/postgres/tls.ts'],
    tests: ['packages/core/test/database/postgres/tls.test.ts'],
  },
  opening: {
    mutate: [
      'packages/core/src/database/postgres/{postgres-database,migration/migration,migration/tag-index}.ts',
    ],
    tests: [
      'packages/core/test/database/postgres/migration/*.test.ts',
      'packages/core/test/database/postgres/{open-postgres,postgres-database}.test.ts',
    ],
  },
  readers: {
    mutate: ['packages/formats/src/{csv,ndjson,rows,text,writers}/*.ts'],
    tests: ['packages/formats/test/**/*.{test,slow}.ts'],
  },
};
