import { fileURLToPath } from 'node:url';
import { execute } from '../processes/execute.ts';
import { autocannonLoad } from './autocannon-load.ts';
import { accessToken, type Load, type LoadGenerator, type LoadResult } from './load.ts';
import { bodyParts } from './request-format.ts';

const script = fileURLToPath(new URL('wrk-load.lua', import.meta.url));

/** Returns wrk (https://github.com/wg/wrk) if it is installed. wrk takes less CPU time than autocannon. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  // wrk prints its version and exits with code 1.
  const version = await execute('wrk', ['--version']).catch((error) => error.stdout);
  const [name] = /^wrk \S+/.exec(version) ?? [];
  return name === undefined ? autocannonLoad : { name, run };
}

async function run({ url, format, order, first, connections, seconds }: Load): Promise<LoadResult> {
  // Each thread has its own counter of ids, so wrk uses only one thread. One thread can send more requests
  // than a server can handle. The store responds within 5 s. By default, wrk counts a response as an error
  // when the response takes more than 2 s.
  const limits = ['--timeout=8s', `--duration=${seconds}s`];
  const options = ['--threads=1', `--connections=${connections}`, ...limits, `--script=${script}`];
  const { method, path } = format;
  const request = [method, path, accessToken, order, String(first), ...bodyParts(format, order)];
  const output = await execute('wrk', [...options, url, '--', ...request]);
  const [, result = ''] = /^result (.*)$/m.exec(output) ?? [];
  return JSON.parse(result);
}
