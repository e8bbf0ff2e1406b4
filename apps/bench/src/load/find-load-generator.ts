import { autocannonLoad } from './autocannon-load.ts';
import type { LoadGenerator } from './load.ts';
import { findWrk } from './wrk-load.ts';

/** wrk if it is installed, since it needs less CPU than a load generator on Node, otherwise autocannon. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  return (await findWrk()) ?? autocannonLoad;
}
