/**
 * Compares the types of the published packages with the types of the last release, which has a tag in git.
 * When a change breaks programs, the check fails, unless the next release is a major release. Run this file
 * in the root of the repository.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { lastRelease, reportBreaks } from './last-release.mjs';

/** Not checked: only our own packages of the same version import these entry points. */
const ownFaces = ['./internal', './cluster'];

/** Not checked: TypeScript accepts no generic conditional type for the same type in another file. */
const incomparable = "'plantStoreError'";

const release = lastRelease();
/** The released sources of a package go into this directory, where Node can find their dependencies. */
const directory = 'node_modules/.released';

if (release) {
  const packages = globSync('{packages,apps}/*/package.json').filter(isLibrary).map(dirname);
  try {
    const checks = packages.flatMap(writeChecks);
    reportBreaks(typeErrors(checks).map((error) => `${error} (since ${release})`));
  } finally {
    for (const path of packages) rmSync(join(path, directory), { recursive: true, force: true });
  }
}

function isLibrary(path) {
  const { private: isPrivate, exports } = JSON.parse(readFileSync(path, 'utf8'));
  return !isPrivate && exports !== undefined;
}

/** Writes a program for each entry point. The program assigns the present exports to the released types. */
function writeChecks(path) {
  const copies = join(path, directory);
  mkdirSync(copies, { recursive: true });
  const archive = spawnSync('git', ['archive', release, `${path}/src`, `${path}/package.json`], {
    maxBuffer: 2 ** 26,
  });
  if (archive.status !== 0) return []; // The release does not have this package.
  spawnSync('tar', ['-x', '-C', copies, '--strip-components', '2'], { input: archive.stdout });
  for (const file of globSync(`${copies}/**/*.ts`)) {
    writeFileSync(file, withStrictMethods(readFileSync(file, 'utf8')));
  }
  const { name, exports } = JSON.parse(readFileSync(join(copies, 'package.json'), 'utf8'));
  const faces = Object.entries(exports).filter(([subpath]) => !ownFaces.includes(subpath));
  return faces.map(([subpath, face], index) => {
    const check = join(copies, `check-${index}.ts`);
    const names = exportedNames(readFileSync(join(copies, face), 'utf8'));
    const released = JSON.stringify(`./${join(face)}`);
    const present = JSON.stringify(`../../${join(face)}`);
    const program = `import type * as released from ${released};
import type * as present from ${present};
export type { ${names.join(', ')} } from ${present};
declare const now: typeof present;
export const check: Omit<typeof released, ${incomparable}> = now;
`;
    writeFileSync(check, program);
    return { path: resolve(check), face: join(name, subpath) };
  });
}

/** Turns methods into functions, because TypeScript compares only the parameters of functions strictly. */
function withStrictMethods(source) {
  const method = /^( {2}\w+\??)(\((?:[^;{}()]|\{[^{}]*\})*\)): ([^;{}]+);$/gm;
  return source.replace(method, '$1: $2 => $3;');
}

function exportedNames(source) {
  const lists = source
    .matchAll(/^export (?:type )?\{([^}]*)\}/gm)
    .flatMap(([, list]) => list.split(','));
  const declared = source.matchAll(/^export (?:async |abstract )?\w+ (\w+)/gm);
  const names = [...lists].map((item) =>
    item
      .trim()
      .replace(/^type /, '')
      .split(' as ')
      .at(-1),
  );
  return [...names, ...declared.map(([, name]) => name)].filter((name) => name && name !== 'type');
}

/** Returns the type errors of the programs. Each error names the entry point and the difference. */
function typeErrors(checks) {
  const config = resolve(`${directory}.json`);
  const files = checks.map(({ path }) => path);
  const compilerOptions = { lib: ['es2024', 'esnext', 'dom'], noUnusedLocals: false };
  writeFileSync(
    config,
    JSON.stringify({ extends: '../tsconfig.base.json', compilerOptions, files }),
  );
  try {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout, stderr, error } = spawnSync(
      process.execPath,
      [tsc, '-p', config, '--pretty', 'false'],
      {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      },
    );
    if (error ?? stderr) throw error ?? new Error(stderr);
    const errors = stdout.split(/\n(?=\S)/);
    return checks.flatMap(({ path, face }) => {
      const own = errors.filter((error) => resolve(error.split('(')[0]) === path);
      return own.map((error) => {
        const reason = error.replace(/^.*?error TS\d+: /, '').replace(/import\("[^"]*"\)\.?/g, '');
        return `${face} breaks programs: ${reason.trim()}`;
      });
    });
  } finally {
    rmSync(config);
  }
}
