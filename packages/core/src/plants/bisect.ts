/**
 * Calls a function for both halves of a batch, one after the other. The database rejects a whole
 * statement because of one row; repeated bisection finds that row.
 */
export async function bisect<T>(
  batch: readonly T[],
  write: (half: T[]) => Promise<void>,
): Promise<void> {
  const middle = batch.length >> 1;
  await write(batch.slice(0, middle));
  await write(batch.slice(middle));
}
