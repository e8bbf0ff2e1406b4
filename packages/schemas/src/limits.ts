/** The greatest number of plants in a page, and the default. */
export const maxPageSize = 1000;
export const defaultPageSize = 100;

/** How many plants one call of `createPlants` may have. */
export const maxNewPlants = 1000;

/** The greatest exact count. Where there are more plants, the count is not exact. */
export const maxExactCount = 1_000_000;

/** How many calls one tRPC request may contain. */
export const maxBatchCalls = 10;

/** The most seconds for which a request may wait for changes. */
export const maxWait = 20;
