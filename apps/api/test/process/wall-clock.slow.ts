import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasPosixSignals, startAcknowledgedLoad } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { emptyDataDirectory, serve, stopProgram } from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

const shiftedClock = fileURLToPath(new URL('../fixtures/shifted-clock.ts', import.meta.url));
const hour = 3_600_000;

// Windows has no signals, so a server there cannot exit with code 0 on SIGTERM.
it.runIf(hasPosixSignals)(
  'responds to every create while somebody sets the wall clock back and forth by an hour',
  async () => {
    const file = join(await emptyDataDirectory(), 'shift');
    const shift = (milliseconds: number) => writeFileSync(file, String(milliseconds));
    shift(0);
    const program = await serve({
      PLANT_STORE_RATE_LIMIT: '999999',
      PLANT_STORE_AUTH_FAILURE_LIMIT: '3',
      NODE_OPTIONS: `--import=${shiftedClock}`,
      CLOCK_SHIFT: file,
    });
    const guess = async () => (await post({ ...program, token: 'guess' }, '/plants', '{}')).status;
    const load = startAcknowledgedLoad(program);
    onTestFinished(() => load.stop());
    for (const milliseconds of [-hour, hour, -2 * hour, 0]) {
      await load.acknowledged(50);
      shift(milliseconds);
      await load.acknowledged(50);
    }
    await load.stop();
    expect(Object.keys(load.seen.outcomes)).toEqual(['200']);

    // The limit of failed authentications does not depend on the wall clock.
    const guesses = [await guess(), await guess(), await guess()];
    for (const milliseconds of [-hour, hour]) {
      shift(milliseconds);
      guesses.push(await guess());
    }
    expect(guesses).toEqual([401, 401, 401, 429, 429]);

    expect(await stopProgram(program)).toBe(0);
    const times = [...program.output().matchAll(/"time":(\d+)/g)].map(([, time]) => Number(time));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(2 * hour);
  },
);
