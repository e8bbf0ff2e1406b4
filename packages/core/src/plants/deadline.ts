/** The time by which a call must be answered, in milliseconds on the clock of `performance.now()`. */
export type Deadline = number;

/** Milliseconds within which a call is answered when its caller sets no deadline. */
export const defaultTimeout = 5_000;
