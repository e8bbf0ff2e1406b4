import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const exec = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const tsc = path('../node_modules/.bin/tsc');
const attw = path('node_modules/.bin/attw');

/** The files that a published package may have: code, types and source maps, core's migrations, pages. */
const published =
  /^package\/(dist\/[\w-]+(?<!\.test)(\.js|\.d\.ts|\.js\.map)|drizzle\/[\w/]+\.(sql|json)|LICENSE|README\.md|CHANGELOG\.md|package\.json)$/;

/** Programs that compile only when the packed packages have types and these are strict. */
const typed = {
  node: `
import type { PlantStore } from '@plant-store/core';
import { createCaller } from '@plant-store/core/router';
import { NewPlant, parseJson } from '@plant-store/schemas';

declare const store: PlantStore;
const plant = await createCaller({ store, principal: { name: 'x' } }).createPlant({ id: 1, name: 'x' });
export const name: string = plant.name;
export const id: bigint = NewPlant.parse(parseJson('{}')).id;
// @ts-expect-error: a Plant has no id
plant.id;
// @ts-expect-error: an id is no string
store.create({ id: '1', name: 'x' });
`,
  browser: `
import { createPlantStoreClient, plantStoreError } from '@plant-store/client';
import { NewPlant } from '@plant-store/schemas';

const token = () => localStorage.getItem('token') ?? '';
const { createPlant } = createPlantStoreClient({ url: '', token });
export const plant: { name: string } = await createPlant.mutate({ id: 1n, name: 'x' });
export const id: bigint = NewPlant.parse(new FormData()).id;
const error = plantStoreError(undefined);
if (error?.code === 40900) error.kind satisfies 'idTaken';
// @ts-expect-error: an id is no string
createPlant.mutate({ id: '1', name: 'x' });
// @ts-expect-error: the packages do not bring Node's types along
process.exit();
`,
};

const resolutions = [
  ['node16', 'node16'],
  ['esnext', 'bundler'],
] as const;

it('the packed packages and their types work in a project outside the workspace', {
  timeout: 600_000, // It installs packages from the registry, which may be slow.
}, async () => {
  const project = await mkdtemp(join(tmpdir(), 'plant-store-packed-'));
  const run = (file: string, ...args: string[]) => exec(file, args, { cwd: project });
  for (const name of ['schemas', 'core', 'client']) {
    await exec('pnpm', ['pack', '--pack-destination', project], {
      cwd: path(`../packages/${name}`),
    });
  }
  const tarballs = (await readdir(project)).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(3);
  for (const tarball of tarballs) {
    const { stdout } = await run('tar', '--list', '--file', tarball);
    const files = stdout.trimEnd().split('\n');
    expect(files.filter((file) => !published.test(file))).toEqual([]);
    await run(attw, tarball, '--profile', 'esm-only');
  }

  const manifest = { name: 'outside', private: true, type: 'module' };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  const quietly = ['--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', 'install', ...quietly, ...tarballs.map((name) => `./${name}`), '@types/node@24');

  await copyFile(path('internal-tool.ts'), join(project, 'internal-tool.ts'));
  const { stdout } = await run(process.execPath, 'internal-tool.ts', './data');
  expect(stdout).toContain('refused 40900');

  await writeFile(join(project, 'node.ts'), typed.node);
  await writeFile(join(project, 'browser.ts'), typed.browser);
  const strictly = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2024'];
  for (const [module, resolution] of resolutions) {
    const flags = [...strictly, '--module', module, '--moduleResolution', resolution];
    await run(tsc, ...flags, '--types', 'node', 'internal-tool.ts', 'node.ts');
    await run(tsc, ...flags, '--lib', 'es2024,dom', '--types', '', 'browser.ts');
  }
  await rm(project, { recursive: true });
});
