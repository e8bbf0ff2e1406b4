import { vi } from 'vitest';

/** Vitest has no setting for this timeout. Its default of a second is too short on a busy machine. */
const timeout = 20_000;

const { waitFor } = vi;
// The files of a package share `vi`, and each runs this module.
if (waitFor.name !== patientWaitFor.name) vi.waitFor = patientWaitFor;

function patientWaitFor<T>(
  condition: () => T | Promise<T>,
  options: Parameters<typeof waitFor>[1] = {},
): Promise<T> {
  return waitFor(condition, typeof options === 'number' ? options : { timeout, ...options });
}
