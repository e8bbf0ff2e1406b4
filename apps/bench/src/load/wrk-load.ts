import { fileURLToPath } from 'node:url';
import { execute } from '../processes/execute.ts';
import type { Load, LoadGenerator, LoadResult } from './load.ts';

const script = fileURLToPath(new URL('wrk-load.lua', import.meta.url));

/** wrk (https://github.com/wg/wrk); undefined if it is not installed. */
export async function findWrk(): Promise<LoadGenerator | undefined> {
  // wrk prints its version and exits with code 1.
  const version = await execute('wrk', ['--version']).catch((error) => error.stdout);
  const [name] = /^wrk \S+/.exec(version) ?? [];
  return name === undefined ? undefined : { name, run };
}

async function run(load: Load): Promise<LoadResult> {
  const { url, method, path, accessToken, bodyParts, ids, connections, seconds } = load;
  // With one thread there is one counter of ids. One thread sends far more than a server here takes.
  // The store answers within 5 s; wrk counts replies after 2 s as errors unless told otherwise.
  const limits = ['--timeout=8s', `--duration=${seconds}s`];
  const options = ['--threads=1', `--connections=${connections}`, ...limits];
  const request = [method, path, accessToken, ids.order, String(ids.first), ...bodyParts];
  const output = await execute('wrk', [...options, `--script=${script}`, url, '--', ...request]);
  const [, result = ''] = /^result (.*)$/m.exec(output) ?? [];
  return JSON.parse(result);
}
