#!/usr/bin/env node
// The command in the repository. Without the compile cache, each start would take 0.05 s of CPU time more,
// because Node would remove the types of each TypeScript file again.
import module from 'node:module';

// Node may be too old: on a Mac, for example, the installed Node runs this file.
if (!process.features.typescript) {
  console.error(
    `plant-store: this is Node ${process.versions.node}: install Node 22.18 or newer, and run it again`,
  );
  process.exit(1);
}
module.enableCompileCache();
await import('../src/main.ts');
