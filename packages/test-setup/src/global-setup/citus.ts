import type { TestProject } from 'vitest/node';
import { startCitus } from '../postgres/start-citus.ts';
import './provided-context.ts';

/** Starts one Citus cluster for a test run. Tests get its addresses by `inject('citus')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests do not crash the machine, so they need no fsync, which is slow.
  const cluster = await startCitus({ settings: { fsync: 'off' } });
  project.provide('citus', cluster.addresses);
  return () => cluster.stop();
}
