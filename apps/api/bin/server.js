#!/usr/bin/env node
// This program starts the server. The program turns on Node's compile cache before Node loads the first
// TypeScript file. Without this cache, Node would remove the types from the files again at each start.
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
