#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { quickenImports } from '@plant-store/core/quick-imports';

// Most of the time until a command begins goes into what it imports.
enableCompileCache();
quickenImports();
const { runCommandLine } = await import('./run-program.ts');
await runCommandLine();
