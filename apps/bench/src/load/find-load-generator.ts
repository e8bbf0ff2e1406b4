import { autocannonLoad } from './autocannon-load.ts';
import type { LoadGenerator } from './load.ts';
import { findWrk } from './wrk-load.ts';

/** Returns wrk if it is installed, since it needs less CPU than autocannon, which runs on Node. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  return (await findWrk()) ?? autocannonLoad;
}
