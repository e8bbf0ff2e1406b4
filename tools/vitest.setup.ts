import { vi } from 'vitest';

/** Vitest has no setting for this timeout. Its default is a second, and the machine may be busy. */
const timeout = 60_000;

const { waitFor } = vi;
// The files of a package share `vi`, and each runs this module.
if (waitFor.name !== patientWaitFor.name) vi.waitFor = patientWaitFor;

function patientWaitFor<T>(
  condition: () => T | Promise<T>,
  options: Parameters<typeof waitFor>[1] = {},
): Promise<T> {
  return waitFor(condition, typeof options === 'number' ? options : { timeout, ...options });
}
