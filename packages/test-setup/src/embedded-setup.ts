import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import './provided-context.ts';

/**
 * Vitest's global setup: a data directory with an empty database in it, given to tests as
 * `inject('dataDirectory')` for them to copy. To make one takes seconds.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  await (await PGlite.create(join(directory, 'postgres'))).close();
  project.provide('dataDirectory', directory);
  return () => rm(directory, { recursive: true });
}
