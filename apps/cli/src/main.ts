#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { quickenImports } from '@plant-store/core/quick-imports';

// A command spends most of its start-up time on imports.
enableCompileCache();
quickenImports();
const { runProgram } = await import('./run-program.ts');
await runProgram();
