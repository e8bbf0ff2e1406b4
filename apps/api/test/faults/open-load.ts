import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Creates over REST and tRPC in turn that are due at a fixed rate, whatever the server does. */
export interface OpenLoad {
  url: string;
  token: string;
  /** Creates a second. */
  rate: number;
  /** A create that is due waits for one of them. */
  connections: number;
  seconds: number;
  firstId: number;
}

/** Times are in milliseconds. */
export interface OpenLoadResult {
  /** The number of responses by HTTP status and error code: `200`, `503 50301`, `none`. */
  outcomes: Record<string, number>;
  /** The number of errors without `Retry-After`. */
  withoutRetryAfter: number;
  /** The time of each response with 200, from the moment its create was sent. */
  fromSent: number[];
  /** The same, from when the create was due. */
  fromDue: number[];
  /** The time of each response of `/livez`, on a new connection. */
  livez: number[];
}

const program = fileURLToPath(new URL('./open-load-process.ts', import.meta.url));

/** Runs such a load on one core. */
export async function runOpenLoad(load: OpenLoad, core: number): Promise<OpenLoadResult> {
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['-c', `${core}`, process.execPath, program, JSON.stringify(load)],
    { maxBuffer: 2 ** 28 },
  );
  return JSON.parse(stdout) as OpenLoadResult;
}
