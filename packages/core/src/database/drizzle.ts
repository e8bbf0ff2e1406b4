import { createRequire } from 'node:module';
import type * as Orm from 'drizzle-orm';
import type * as PgCore from 'drizzle-orm/pg-core';
import type * as PgProxy from 'drizzle-orm/pg-proxy';
import type * as Migrator from 'drizzle-orm/pg-proxy/migrator';

/**
 * Drizzle as CommonJS. Before each of Drizzle's 107 ES modules, Node would parse Drizzle's `package.json` again.
 * This file has 179 kB, so that would take 0.3 s and over 200 MB of memory at every start.
 */
const require = createRequire(import.meta.url);

export const orm: typeof Orm = require('drizzle-orm');
export const pgCore: typeof PgCore = require('drizzle-orm/pg-core');
export const { drizzle }: typeof PgProxy = require('drizzle-orm/pg-proxy');
export const {
  migrate: applyMigrations,
}: typeof Migrator = require('drizzle-orm/pg-proxy/migrator');
