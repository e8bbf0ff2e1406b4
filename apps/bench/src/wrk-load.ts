import { fileURLToPath } from 'node:url';
import { execute } from './execute.ts';
import type { Load, LoadGenerator, LoadResult } from './load.ts';

const script = fileURLToPath(new URL('wrk-load.lua', import.meta.url));

/** wrk (https://github.com/wg/wrk), unless the machine has none. */
export async function findWrk(): Promise<LoadGenerator | undefined> {
  // It shows its version with exit code 1.
  const version = await execute('wrk', ['--version']).catch((failure) => failure.stdout);
  const [name] = /^wrk \S+/.exec(version) ?? [];
  return name === undefined ? undefined : { name, run };
}

async function run(load: Load): Promise<LoadResult> {
  const { url, path, token, pieces, ids, connections, seconds } = load;
  // One thread, so that there is one counter of ids; it sends far more than a server here takes.
  const options = ['--threads=1', `--connections=${connections}`, `--duration=${seconds}s`];
  const request = [path, token, ids.order, String(ids.first), ...pieces];
  const output = await execute('wrk', [...options, `--script=${script}`, url, '--', ...request]);
  const [, result = ''] = /^result (.*)$/m.exec(output) ?? [];
  return JSON.parse(result);
}
