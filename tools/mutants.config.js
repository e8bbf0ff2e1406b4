/**
 * The areas of the code whose mutants the tests must catch. A mutant is a small change of the code by
 * Stryker. `npx -y pnpm mutants` runs one area after the other. The command compares the mutants that the
 * tests do not catch with `mutants.baseline.json`.
 *
 * `mutate` names the files that Stryker changes, and `tests` names the tests that must fail. The tests run
 * the code in their own process, because a process that a test starts does not run the mutants.
 */
export const areas = {
  json: {
    mutate: ['packages/schemas/src/json/*.ts'],
    tests: ['packages/schemas/test/json/*.test.ts'],
  },
  transformer: {
    mutate: ['packages/core/src/procedures/trpc/transformer.ts'],
    tests: ['packages/core/test/procedures/trpc/transformer.test.ts'],
  },
  csv: {
    mutate: ['packages/formats/src/csv/parser.ts'],
    tests: ['packages/formats/test/csv/reader.test.ts', 'packages/formats/test/csv/parser.test.ts'],
  },
  import: {
    mutate: ['apps/cli/src/import/import-file.ts'],
    tests: ['apps/cli/test/import/import-outcome.test.ts'],
    needsPostgres: true,
  },
  drain: {
    mutate: ['apps/api/src/connections/drain.ts'],
    tests: ['apps/api/test/http/drain-hooks.test.ts'],
  },
  reconnect: {
    mutate: ['packages/client/src/reconnect.ts'],
    tests: ['packages/client/test/reconnect.test.ts'],
  },
};
