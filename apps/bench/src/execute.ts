import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a command of the machine to its end, or to that of this process, and returns what it printed. */
export async function execute(command: string, args: readonly string[]): Promise<string> {
  const running = promisify(execFile)(command, args);
  const stopWithUs = () => running.child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  try {
    return (await running).stdout;
  } finally {
    process.off('exit', stopWithUs);
  }
}
