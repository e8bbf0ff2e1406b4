#!/usr/bin/env node
// Node links static imports before it runs any code, and an old Node fails in this step. This file has no
// static imports, so it can say which Node the program needs.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `plant-store: this is Node ${process.versions.node}: install Node 22.18 or newer, and run it again`,
  );
  process.exitCode = 1;
} else {
  const { startFast } = await import('@plant-store/fast-start');
  const { findPGlite } = await import('./find-pglite.ts');
  startFast();
  findPGlite();
  const { runProgram } = await import('./run-program.ts');
  await runProgram();
}
