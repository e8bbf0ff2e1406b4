import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import './provided-context.ts';

/**
 * Vitest's global setup: makes a data directory with an empty embedded database. Tests get its path
 * by `inject('dataDirectory')` and copy it, because making a database takes seconds.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  await (await PGlite.create(join(directory, 'postgres'))).close();
  project.provide('dataDirectory', directory);
  return () => rm(directory, { recursive: true });
}
