#!/usr/bin/env node
// Even an old version of Node can run this file, because the file has no static imports. The file then prints
// which version the program needs.
const { explainOldNode } = await import('@plant-store/fast-start/old-node');
const oldNode = explainOldNode();
const [, , command = '--build-console'] = process.argv;
if (oldNode) {
  console.error(oldNode);
  process.exitCode = 1;
} else if (command === '--build-console') {
  await import('./run-program.ts');
} else {
  const { runOperator } = await import('./operator/program.ts');
  await runOperator();
}
