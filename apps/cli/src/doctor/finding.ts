import type { Hazard } from '@plant-store/core/operator';

/** The result of one check. */
export interface Finding {
  /** The name of the check, in one word. */
  check: string;
  level: Hazard['level'];
  /** The result of the check. If the result is not ok, the message also has the remedy. */
  message: string;
}
