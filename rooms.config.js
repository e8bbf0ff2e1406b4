/**
 * The packages and their rooms. `npx -y pnpm imports` checks every import against this list.
 *
 * A package lists the packages that it may import: `imports` for all its code, `typeImports` for
 * types only, and `testImports` for its tests only.
 *
 * The rooms of a package are the folders of its `src`, from the lowest to the highest. A room may
 * import the rooms before it. Rooms in an inner array are on the same level and do not import each
 * other. A room that ends with `/**` includes its nested folders; every other nested folder is a
 * room of its own. A file on top of `src` that rooms import has a place in the list, too. Other
 * files on top of `src` may import every room, and no room may import them.
 */
export const packages = {
  'packages/schemas': { rooms: [['ids', 'json']] },
  'packages/formats': {
    imports: ['packages/schemas'],
    rooms: ['text', 'rows', 'csv', 'ndjson', ['writers', 'copied']],
  },
  'packages/fast-start': {},
  'packages/core': {
    imports: ['packages/schemas'],
    testImports: ['packages/test-setup'],
    rooms: [
      'error-causes.ts',
      'plant-store-error.ts',
      'database/**',
      ['plants', 'access-tokens'],
      'plants/bulk',
      'cluster/**',
      'plant-store.ts',
      'procedures',
    ],
  },
  'packages/client': {
    imports: ['packages/schemas'],
    typeImports: ['packages/core'],
    testImports: ['packages/test-setup'],
  },
  'packages/test-setup': {
    rooms: [['machine', 'network', 'browser'], 'postgres', ['server', 'global-setup']],
  },
  'apps/api': {
    imports: ['packages/schemas', 'packages/core', 'packages/fast-start'],
    testImports: ['packages/test-setup'],
    rooms: [
      'errors',
      'observability',
      'node',
      ['http', 'http/body'],
      'auth',
      'calls',
      ['rest', 'trpc', 'docs', 'web'],
      'env.ts',
      'server.ts',
      'processes',
      'process',
    ],
  },
  'apps/web': {
    imports: ['packages/schemas', 'packages/formats', 'packages/client'],
    testImports: ['packages/core', 'packages/test-setup'],
    rooms: [
      ['store', 'controls', 'address'],
      ['token', 'requests', 'plants'],
      ['plants/add', 'plants/find', 'plants/selection', 'plants/export', 'plants/table'],
      'import',
      'import/views',
      'layout',
    ],
  },
  'apps/cli': {
    imports: ['packages/schemas', 'packages/formats', 'packages/core', 'packages/fast-start'],
    testImports: ['packages/test-setup'],
    rooms: ['command-line', 'import', ['export', 'delete', 'doctor', 'completion'], 'commands'],
  },
  'apps/bench': {
    // The benchmark starts its own Postgres as the tests do.
    imports: ['packages/core', 'packages/test-setup'],
    rooms: [
      ['processes', 'report', 'contenders/peers'],
      'load',
      ['database', 'contenders'],
      'measurements',
      'modes',
    ],
  },
  examples: {
    imports: ['packages/core'],
    testImports: ['packages/schemas', 'packages/client', 'packages/test-setup'],
  },
  'examples/rest': {
    testImports: ['packages/test-setup'],
  },
  'examples/front-end': {
    imports: ['packages/client'],
    testImports: ['packages/test-setup'],
  },
};
