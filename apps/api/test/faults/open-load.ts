import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Creates over REST and tRPC in turn, at a fixed rate even when the server is slow. */
export interface OpenLoad {
  url: string;
  token: string;
  /** Creates a second. */
  rate: number;
  /** The number of connections. A create that is due waits for a free connection. */
  connections: number;
  seconds: number;
  firstId: number;
}

/** The result of a load. Times are in milliseconds. */
export interface OpenLoadResult {
  /** The number of responses by outcome, such as `200`, `503 50301` or `none`. */
  outcomes: Record<string, number>;
  /** The number of errors without `Retry-After`. */
  withoutRetryAfter: number;
  /** For each response with status 200, the time since its create was sent. */
  fromSent: number[];
  /** For each response with status 200, the time since its create was due. */
  fromDue: number[];
  /** The time of each response of `/livez`. Each request has a new connection. */
  livez: number[];
}

const program = fileURLToPath(new URL('./open-load-process.ts', import.meta.url));

/** Runs a load on the given CPU core. */
export async function runOpenLoad(load: OpenLoad, core: number): Promise<OpenLoadResult> {
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['-c', `${core}`, process.execPath, program, JSON.stringify(load)],
    { maxBuffer: 2 ** 28 },
  );
  return JSON.parse(stdout) as OpenLoadResult;
}
