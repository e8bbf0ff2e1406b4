#!/usr/bin/env node
// Even an old version of Node can run this file, because the file has no static imports. The file then prints
// which version the program needs.
const { explainOldNode } = await import('@plant-store/fast-start/old-node');
const oldNode = explainOldNode();
if (oldNode) {
  console.error(oldNode);
  process.exitCode = 1;
} else {
  await import('./run-program.ts');
}
