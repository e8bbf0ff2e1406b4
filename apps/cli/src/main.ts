#!/usr/bin/env node
// Even an old version of Node can run this file, because the file has no static imports. On an old
// version, the file prints which version the program needs.
const { explainOldNode } = await import('@plant-store/fast-start/old-node');
const oldNode = explainOldNode();
if (oldNode) {
  console.error(oldNode);
  process.exitCode = 1;
} else {
  const { startFast } = await import('@plant-store/fast-start');
  const { findPGlite } = await import('./find-pglite.ts');
  startFast();
  findPGlite();
  const { runProgram } = await import('./run-program.ts');
  await runProgram();
}
