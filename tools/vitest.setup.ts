import { vi } from 'vitest';

/**
 * Vitest has no setting for the timeout of `waitFor`. The default is one second, which is too short on a busy
 * machine.
 */
const timeout = 60_000;

const { waitFor } = vi;
// Each test file of a package runs this module, and all files share `vi`. Only the first file changes `vi`.
if (waitFor.name !== patientWaitFor.name) vi.waitFor = patientWaitFor;

function patientWaitFor<T>(
  condition: () => T | Promise<T>,
  options: Parameters<typeof waitFor>[1] = {},
): Promise<T> {
  return waitFor(condition, typeof options === 'number' ? options : { timeout, ...options });
}
