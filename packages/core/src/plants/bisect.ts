/**
 * Calls a function for both halves of a batch, one after the other: a database rejects a whole
 * statement for one row, and bisecting finds that row.
 */
export async function bisect<T>(
  batch: readonly T[],
  write: (half: T[]) => Promise<void>,
): Promise<void> {
  const middle = batch.length >> 1;
  await write(batch.slice(0, middle));
  await write(batch.slice(middle));
}
