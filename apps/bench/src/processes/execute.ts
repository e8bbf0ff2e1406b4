import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { endWithThisProcess } from '@plant-store/test-setup';

/** Runs a command and returns its standard output. The command ends when this process ends. */
export async function execute(
  command: string,
  args: readonly string[],
  input = '',
): Promise<string> {
  const running = promisify(execFile)(command, args);
  endWithThisProcess(running.child);
  // The program may end before it has read `input`. The pipe then emits an error, which does no harm.
  running.child.stdin?.on('error', () => {}).end(input);
  return (await running).stdout;
}
