#!/usr/bin/env node
// Runs the command in the repository. Without the compile cache, Node would remove the types of each file again
// at every start.
import module from 'node:module';

// The installed Node runs this file, and may be too old.
if (!process.features.typescript) {
  console.error(
    `plant-store: this is Node ${process.versions.node}: install Node 22.18 or newer, and run it again`,
  );
  process.exit(1);
}
module.enableCompileCache();
await import('../src/main.ts');
