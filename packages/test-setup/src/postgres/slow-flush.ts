import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../machine/at-exit.ts';

/** Whether this machine can compile the library that makes a Postgres slow. */
export const hasSlowFlush = process.platform === 'linux' && spawnSync('cc', ['-v']).status === 0;

/** A disk with flushes of an adjustable duration. */
export interface SlowFlush {
  /** The environment variables of a Postgres on this disk. */
  readonly env: Record<string, string>;
  /** Sets the duration of all later flushes, in milliseconds. */
  set(milliseconds: number): void;
  /** Ends the running flushes at once, and stops the delays. */
  cut(): void;
}

/** Compiles a library that delays `fdatasync` in the processes that preload it. */
export function makeSlowFlush(): SlowFlush {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-slow-flush-'));
  chmodSync(directory, 0o755);
  atExit(() => rmSync(directory, { recursive: true, force: true }));
  const [source, library, delay] = ['c', 'so', 'delay'].map((suffix) =>
    join(directory, `slow-flush.${suffix}`),
  ) as [string, string, string];
  writeFileSync(source, program);
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) throw new Error(`the library was not compiled:\n${stderr}`);
  const set = (milliseconds: number) => writeFileSync(delay, String(milliseconds));
  set(0);
  return { env: { LD_PRELOAD: library, SLOW_FLUSH: delay }, set, cut: () => set(-1) };
}

/** A negative delay ends the running flushes at once. */
const program = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int delay(void) {
  int milliseconds = 0;
  FILE *file = fopen(getenv("SLOW_FLUSH"), "r");
  if (file && fscanf(file, "%d", &milliseconds) != 1) milliseconds = 0;
  if (file) fclose(file);
  return milliseconds;
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1000 * time.tv_sec + time.tv_nsec / 1000000;
}

int fdatasync(int descriptor) {
  static int (*flush)(int);
  if (!flush) flush = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
  int milliseconds = delay();
  for (long start = now(); now() - start < milliseconds && delay() >= 0;) usleep(10000);
  return flush(descriptor);
}
`;
