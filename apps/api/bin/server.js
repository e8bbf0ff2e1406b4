#!/usr/bin/env node
// Even an old version of Node can run this file.
import { existsSync } from 'node:fs';
import module from 'node:module';

const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`plant-store: this is Node ${node}: install Node 22.18 or newer, and run it again`);
  process.exit(1);
}
module.enableCompileCache(); // Without it, Node removes the types from the files again at each start.
const source = existsSync(new URL('../src/main.ts', import.meta.url)) ? '../src' : '../dist';
const extension = source === '../src' ? 'ts' : 'js';
const [, , command = '--build-console'] = process.argv;
if (command === '--build-console') await (await import(`${source}/main.${extension}`)).main();
else await (await import(`${source}/operator/commands.${extension}`)).runOperator();
