/** While Citus distributes a table or splits a shard, the plants that move cause an internal error of Citus. */
export function hasMoved(error: unknown): boolean {
  return error instanceof Error && /^could not find valid entry for shard/.test(error.message);
}
