import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../machine/at-exit.ts';
import { isInstalled } from '../machine/platform.ts';

/** Whether this machine can compile the library that makes a Postgres slow. */
export const hasSlowFlush = process.platform === 'linux' && isInstalled('cc');

/** A disk whose flushes take as long as a test wants. */
export type SlowFlush = ReturnType<typeof makeSlowFlush>;

/** Compiles a library. A process that preloads the library has a slow `fdatasync` and a shifted clock. */
export function makeSlowFlush() {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-slow-flush-'));
  chmodSync(directory, 0o755);
  atExit(() => rmSync(directory, { recursive: true, force: true }));
  const [source, library, delay, shift] = ['c', 'so', 'delay', 'shift'].map((suffix) =>
    join(directory, `slow-flush.${suffix}`),
  ) as [string, string, string, string];
  writeFileSync(source, program);
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) throw new Error(`the library was not compiled:\n${stderr}`);
  /** Sets the duration of all later flushes, in milliseconds. */
  const set = (milliseconds: number) => writeFileSync(delay, String(milliseconds));
  set(0);
  return {
    /** With these environment variables, a Postgres uses this disk. */
    env: { LD_PRELOAD: library, SLOW_FLUSH: delay, CLOCK_SHIFT: shift },
    set,
    /** Ends the running flushes immediately, and stops the delays. */
    cut: () => set(-1),
    /** Sets the clock of a Postgres on this disk forward. */
    shiftClock: (seconds: number) => writeFileSync(shift, String(seconds)),
  };
}

/** A negative delay ends the running flushes immediately. */
const program = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int number_in(const char *path) {
  int number = 0;
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%d", &number) != 1) number = 0;
  if (file) fclose(file);
  return number;
}

static int delay(void) {
  return number_in(getenv("SLOW_FLUSH"));
}

int gettimeofday(struct timeval *time, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = (int (*)(struct timeval *, void *)) dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(time, zone);
  time->tv_sec += number_in(getenv("CLOCK_SHIFT"));
  return result;
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
