#!/usr/bin/env node
import { startFast } from '@plant-store/fast-start';
import { findPGlite } from './find-pglite.ts';

startFast();
findPGlite();
const { runProgram } = await import('./run-program.ts');
await runProgram();
