const tests = '/test/|[.](?:test|slow|e2e)[.]ts$|/vitest[^/]*[.]ts$';

/** The packages whose code each package may import: `schemas ← core ← api`. */
const imports = {
  'packages/schemas': [],
  'packages/formats': ['packages/schemas'],
  'packages/core': ['packages/schemas'],
  'packages/client': ['packages/schemas', 'packages/core'],
  'apps/api': ['packages/schemas', 'packages/core'],
  'apps/web': ['packages/schemas', 'packages/formats', 'packages/client'],
  'apps/cli': ['packages/schemas', 'packages/formats', 'packages/client'],
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no cycle between files',
      from: {},
      // A cycle of types exists only for the type checker.
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'only tests import tests', from: { pathNot: tests }, to: { path: tests } },
    { name: 'no unknown package', from: {}, to: { path: '^@plant-store/', couldNotResolve: true } },
    {
      name: 'client imports only types of core',
      from: { path: '^packages/client/src/' },
      to: { path: '^packages/core/', dependencyTypesNot: ['type-only'] },
    },
    ...Object.entries(imports).map(([name, others]) => ({
      name: `imports of ${name}`,
      from: { path: `^${name}/src/`, pathNot: tests },
      to: {
        path: '^(packages|apps|examples)/',
        pathNot: [name, ...others].map((each) => `^${each}/`),
      },
    })),
  ].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    includeOnly: ['^(packages|apps|examples)/', '^@plant-store/'],
    exclude: ['/node_modules/', '/dist/', '/generated/', '[.](json|ndjson)$'],
    // The rules also apply to an import that only imports types.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};
