import { packages } from './rooms.config.js';

const tests = '/test/|[.](?:test|slow|worked|faults|packed)[.]ts$|/vitest[^/]*[.]ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no cycle between files',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no import of test code',
      comment: 'Only tests import tests.',
      severity: 'error',
      from: { pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'no unresolved import of a package',
      comment: 'The check does not see where this import leads.',
      severity: 'error',
      from: {},
      to: { path: '^@plant-store/', couldNotResolve: true },
    },
    ...Object.entries(packages).flatMap(packageRules),
    ...Object.entries(packages).flatMap(roomRules),
  ],
  options: {
    includeOnly: ['^(packages|apps|examples)/', '^@plant-store/'],
    exclude: ['/node_modules/', '/dist/', '/generated/', '[.]json$'],
    // The rules also apply to an import that only imports types.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};

function packageRules([name, { imports = [], typeImports = [], testImports = [] }]) {
  const rule = (kind, from, allowed, to = {}) => ({
    name: `${kind} of ${name}`,
    comment: allowed.length > 0 ? `Allowed: ${allowed.join(', ')}.` : 'No package is allowed.',
    severity: 'error',
    from: { path: inPackage(name), ...from },
    to: { path: '^(packages|apps|examples)/', pathNot: [name, ...allowed].map(inPackage), ...to },
  });
  return [
    rule('imports', { pathNot: tests }, [...imports, ...typeImports]),
    rule('test imports', { path: testsOf(name) }, [...imports, ...typeImports, ...testImports]),
    ...typeImports.map((typeImport) => ({
      name: `only types of ${typeImport} in ${name}`,
      severity: 'error',
      from: { path: inPackage(name), pathNot: tests },
      to: { path: inPackage(typeImport), dependencyTypesNot: ['type-only'] },
    })),
  ];
}

function roomRules([name, { rooms = [] }]) {
  const levels = rooms.map(Object.keys);
  return levels.flatMap((level, height) => {
    const lower = levels.slice(0, height).flat();
    return level.map((room) => ({
      name: `${name}/src/${room}`,
      comment: lower.length > 0 ? `Allowed: ${lower.join(', ')}.` : 'No other room is allowed.',
      severity: 'error',
      from: { path: inRoom(name, room) },
      to: { path: `^${name}/src/`, pathNot: [room, ...lower].map((each) => inRoom(name, each)) },
    }));
  });
}

/** Returns a regular expression for the files of a package. Excludes packages inside the package's folder. */
function inPackage(name) {
  const inner = Object.keys(packages).filter((other) => other.startsWith(`${name}/`));
  return `^${name}/${inner.map((other) => `(?!${other.slice(name.length + 1)}/)`).join('')}`;
}

function testsOf(name) {
  return inPackage(name).replace('^', `^(?=.*(?:${tests}))`);
}

function inRoom(name, room) {
  const path = `^${name}/src/${room.replace('.', '[.]')}`;
  return room.endsWith('.ts') ? `${path}$` : `${path}/[^/]+$`;
}
