/** How many calls one tRPC request may contain. */
export const maxBatchSize = 10;
