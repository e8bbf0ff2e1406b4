#!/usr/bin/env node
// The command in the repository. Without the compile cache, Node would remove the types of each TypeScript
// file again at each start. This would take 0.05 s of CPU time.
import module from 'node:module';

// On macOS, an old Node that is installed on the machine may run this file.
if (!process.features.typescript) {
  console.error(
    `plant-store: this is Node ${process.versions.node}: install Node 22.18 or newer, and run it again`,
  );
  process.exit(1);
}
module.enableCompileCache();
await import('../src/main.ts');
