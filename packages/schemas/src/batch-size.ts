/** How many calls one tRPC request may carry. */
export const maxBatchSize = 10;
