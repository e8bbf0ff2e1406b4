/** A point in time by `performance.now()`, in milliseconds: a call is answered before it. */
export type Deadline = number;

/** Milliseconds in which a call is answered when its caller sets no deadline. */
export const defaultTimeout = 5_000;
