#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Even an old version of Node can run this file.
const { node } = process.versions;
const [major, minor] = node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`plant-store: this is Node ${node}: install Node 22.18 or newer, and run it again`);
  process.exit(1);
}
// Without this flag, V8 creates some short-lived objects in the old generation, where garbage stays for long.
setFlagsFromString('--no-allocation-site-pretenuring');
module.enableCompileCache(); // Without this cache, Node compiles each file again at every start.
const isInRepository = existsSync(new URL('../src/main.ts', import.meta.url));
await import(isInRepository ? '../src/main.ts' : '../dist/main.js');
