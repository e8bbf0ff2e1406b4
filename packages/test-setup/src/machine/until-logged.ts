import type { ChildProcess } from 'node:child_process';

/** Waits until the standard error of a process matches a pattern. Rejects when the process exits first. */
export async function untilLogged(child: ChildProcess, pattern: RegExp): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      log += log.length < 10_000 ? chunk : '';
      if (pattern.test(String(chunk))) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`${child.spawnfile} ended with code ${code}:\n${log}`)),
    );
  });
}
