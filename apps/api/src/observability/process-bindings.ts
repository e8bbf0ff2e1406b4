import { hostname } from 'node:os';

/** The fields of the process that pino adds to each line, for lines that are made without pino. */
export const processBindings = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
