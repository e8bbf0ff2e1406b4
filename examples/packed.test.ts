import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const exec = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Fails to compile where the types of the packed packages are missing or loose. */
const typed = `
import { createCaller, type PlantStore } from '@plant-store/core';
import { NewPlant, parseJson } from '@plant-store/schemas';

declare const store: PlantStore;
const plant = await createCaller({ store, principal: { name: 'x' } }).createPlant({ id: 1, name: 'x' });
export const name: string = plant.name;
export const id: bigint = NewPlant.parse(parseJson('{}')).id;
// @ts-expect-error: a Plant has no id
plant.id;
// @ts-expect-error: the store takes no text for an id
store.create({ id: '1', name: 'x' });
`;

it('schemas and core work in a project outside the workspace, types and all', {
  timeout: 200_000,
}, async () => {
  const project = await mkdtemp(join(tmpdir(), 'plant-store-packed-'));
  const run = (file: string, ...args: string[]) => exec(file, args, { cwd: project });
  for (const name of ['schemas', 'core']) {
    await exec('pnpm', ['pack', '--pack-destination', project], {
      cwd: path(`../packages/${name}`),
    });
  }
  const tarballs = (await readdir(project)).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);

  const manifest = { name: 'outside', private: true, type: 'module' };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  const quietly = ['--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', 'install', ...quietly, ...tarballs.map((name) => `./${name}`), '@types/node@24');

  await copyFile(path('internal-tool.ts'), join(project, 'internal-tool.ts'));
  const { stdout } = await run(process.execPath, 'internal-tool.ts', './data');
  expect(stdout).toContain('refused 40900');

  await writeFile(join(project, 'typed.ts'), typed);
  const strictly = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--target',
    'es2024',
    '--types',
    'node',
  ];
  for (const resolution of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const [module = '', moduleResolution = ''] = resolution;
    const flags = [...strictly, '--module', module, '--moduleResolution', moduleResolution];
    await run(path('../node_modules/.bin/tsc'), ...flags, 'internal-tool.ts', 'typed.ts');
  }
  await rm(project, { recursive: true });
});
