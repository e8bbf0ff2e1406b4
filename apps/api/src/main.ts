#!/usr/bin/env node
// Even an old version of Node can run this file, because the file has no static imports. The file then prints
// which version the program needs.
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
const [, , command = '--build-console'] = process.argv;
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`plant-store: this is Node ${node}: install Node 22.18 or newer, and run it again`);
  process.exitCode = 1;
} else if (command === '--build-console') {
  await import('./run-program.ts');
} else {
  const { runOperator } = await import('./operator/program.ts');
  await runOperator();
}
