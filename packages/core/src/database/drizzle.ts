import { createRequire } from 'node:module';

/**
 * Loads Drizzle as CommonJS. Node would parse Drizzle's `package.json`, which has 179 kB, for each of
 * Drizzle's 107 ES modules. At every start, the parsing would take 0.3 s and over 200 MB of memory.
 */
const require = createRequire(import.meta.url);

export const orm: typeof import('drizzle-orm') = require('drizzle-orm');
export const pgCore: typeof import('drizzle-orm/pg-core') = require('drizzle-orm/pg-core');
export const pgProxy: typeof import('drizzle-orm/pg-proxy') = require('drizzle-orm/pg-proxy');
export const migrator: typeof import('drizzle-orm/pg-proxy/migrator') = require('drizzle-orm/pg-proxy/migrator');
