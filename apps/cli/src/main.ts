#!/usr/bin/env node
import { startFast } from '@plant-store/fast-start';

startFast();
const { runProgram } = await import('./run-program.ts');
await runProgram();
