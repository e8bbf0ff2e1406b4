import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a command and returns its standard output. The command ends when this process ends. */
export async function execute(command: string, args: readonly string[]): Promise<string> {
  const running = promisify(execFile)(command, args);
  const killChild = () => running.child.kill('SIGKILL');
  process.once('exit', killChild);
  try {
    return (await running).stdout;
  } finally {
    process.off('exit', killChild);
  }
}
