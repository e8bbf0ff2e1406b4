#!/usr/bin/env node
// This file has no static imports, so an old Node can run it, and it can say which Node the program needs.
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
